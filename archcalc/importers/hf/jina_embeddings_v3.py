"""Jina embeddings v3: BERT with rotary positions."""

from archcalc.importers.hf._helpers import bert_like
from archcalc.importers.hf._helpers.reading import Config, Fields

USUAL = "masked"


def translate(c: Config, task: str) -> Fields:
    dense = {"hidden": c.size("hidden_size")}
    return bert_like.rotary_bert(c, head=bert_like.rotary_head(c, task, dense, base=bert_like.pooled))
