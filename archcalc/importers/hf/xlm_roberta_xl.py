"""XLM-RoBERTa XL: pre-norm RoBERTa without a norm after the embedding."""

from archcalc.importers.hf._helpers import bert_like, inert
from archcalc.importers.hf._helpers.reading import Config, Fields

TYPES = ("xlm-roberta-xl",)
USUAL = "masked"
INERT = {inert.SUMMARY: "summary_proj_to_labels"}


def translate(c: Config, task: str) -> Fields:
    head, embedding = bert_like.head(c, task, {"hidden": c.size("hidden_size")}), {"types": c.count("type_vocab_size")}
    position = bert_like.positions_behind_padding(c)
    return bert_like.bert(c, norm=None, position=position, embedding=embedding, head=head)
