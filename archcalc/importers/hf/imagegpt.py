"""ImageGPT: GPT-2 over pixels, with RMS norms."""

from typing import Any

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.gpt2_like import gpt2_like
from archcalc.importers.hf._helpers.reading import Config, Fields

USUAL = "pixels"


def translate(c: Config, task: str) -> Fields:
    return gpt2_like(c, task, norm="rms", head=_head(c, task))


def _head(c: Config, task: str) -> Any:
    c.skip("tie_word_embeddings")
    table: heads.Table = {
        "base": heads.none,
        "image": lambda: {"kind": "classifier", "classes": heads.labels(c), "bias": False, "pool": "mean"},
        "pixels": lambda: _pixels(c),
    }
    return heads.for_task(c, task, table)


def _pixels(c: Config) -> Fields:
    if c.flag("tie_word_embeddings"):
        raise c.refused("tie_word_embeddings", "the head has one row less than the table")
    return {"kind": "lm", "vocab": c.size("vocab_size") - 1}
