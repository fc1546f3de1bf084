"""UltraBERT: Llama that sees the whole text, perhaps by windows in some blocks."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers import bert_like, heads, inert
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.layer_types import full, layer_types, sliding
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("ultrabert",)
USUAL = "masked"
INERT = {
    inert.TRAINING: "prediction_head_size",
    inert.SUMMARY: "classifier_pooling",
}


def translate(c: Config, task: str) -> Fields:
    found = sliding(c, layer_types(c, full(c)), c.size_or("sliding_window", 0) or None)
    stack = {"variants": found["variants"], "encoder": found["decoder"]}
    return {**bert_like.llama_encoder(c), **stack, "head": _head(c, task)}


def _head(c: Config, task: str) -> Any:
    c.skip("tie_word_embeddings")
    table: heads.Table = {
        "base": heads.none,
        "sequence": lambda: heads.classifier(heads.labels(c), pool="class"),
        "token": lambda: heads.classifier(heads.labels(c)),
        "answer": lambda: heads.classifier(heads.SPAN),
    }
    return heads.for_task(c, task, table)
