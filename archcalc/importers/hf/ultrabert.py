"""UltraBERT: Llama with bidirectional attention; some blocks use sliding windows with their own RoPE base."""

from typing import Any

from archcalc.importers.hf._helpers import bert_like, heads, inert
from archcalc.importers.hf._helpers.blocks import head_dim
from archcalc.importers.hf._helpers.layer_types import FULL, full, layer_types, sliding
from archcalc.importers.hf._helpers.reading import Config, Fields
from archcalc.importers.hf._helpers.words import local_rope, rope

USUAL = "masked"
INERT = {inert.TRAINING: "prediction_head_size", inert.SUMMARY: "classifier_pooling"}


def translate(c: Config, task: str) -> Fields:
    local = local_rope(c, head_dim(c))
    found = sliding(c, layer_types(c, full(c)), c.size_or("sliding_window", 0) or None, **local)
    return {
        **bert_like.llama_encoder(c),
        "position": rope(c, head_dim(c), layer=FULL),
        "variants": found["variants"],
        "encoder": found["decoder"],
        "head": _head(c, task),
    }


def _head(c: Config, task: str) -> Any:
    c.skip("tie_word_embeddings")
    table: heads.Table = {
        "base": heads.none,
        "sequence": lambda: heads.classifier(heads.labels(c), pool="class"),
        "token": lambda: heads.classifier(heads.labels(c)),
        "answer": lambda: heads.classifier(heads.SPAN),
    }
    return heads.for_task(c, task, table)
