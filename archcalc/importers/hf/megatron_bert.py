"""Megatron-BERT: pre-norm BERT without a norm after the embedding."""

from archcalc.importers.hf._helpers import Config, Fields, bert_like, inert

TYPES = ("megatron-bert",)
USUAL = "masked"
INERT = {inert.SUMMARY: "summary_proj_to_labels"}


def translate(c: Config) -> Fields:
    embedding, head = {"types": c.count("type_vocab_size")}, bert_like.head(c, bert_like.POOLER)
    return bert_like.bert(c, norm=None, embedding=embedding, head=head)
