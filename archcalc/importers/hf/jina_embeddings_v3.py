"""Jina embeddings v3: BERT with rotary positions."""

from archcalc.importers.hf._helpers import Config, Fields, bert_like

USUAL = "masked"


def translate(c: Config) -> Fields:
    dense = {"hidden": c.size("hidden_size")}
    return bert_like.rotary_bert(c, head=bert_like.rotary_head(c, dense, base=bert_like.pooled))
