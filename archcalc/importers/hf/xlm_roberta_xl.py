"""XLM-RoBERTa XL: pre-norm RoBERTa without a norm after the embedding."""

from archcalc.importers.hf._helpers import Config, Fields, bert_like, inert

TYPES = ("xlm-roberta-xl",)
USUAL = "masked"
INERT = {inert.SUMMARY: "summary_proj_to_labels"}


def translate(c: Config) -> Fields:
    head, embedding = bert_like.head(c, {"hidden": c.size("hidden_size")}), {"types": c.count("type_vocab_size")}
    position = bert_like.positions_behind_padding(c)
    return bert_like.bert(c, norm=None, position=position, embedding=embedding, head=head)
