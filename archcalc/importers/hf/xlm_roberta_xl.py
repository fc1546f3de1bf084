"""XLM-RoBERTa XL: pre-norm RoBERTa without a norm after the embedding."""

from archcalc.importers.hf._helpers import bert_like, inert
from archcalc.importers.hf._helpers.reading import Config, Fields

TYPES = ("xlm-roberta-xl",)
USUAL = "masked"
INERT = {inert.SUMMARY: "summary_proj_to_labels"}


def translate(c: Config, task: str) -> Fields:
    return {
        **bert_like.encoder(c),
        "position": bert_like.positions_behind_padding(c),
        "embedding": {"types": c.count("type_vocab_size")},
        **bert_like.blocks(c),
        "head": bert_like.head(c, task, {"hidden": c.size("hidden_size")}),
    }
