"""Splinter's bare encoder: BERT without a pooler."""

from __future__ import annotations

from archcalc.importers.hf._helpers import bert_like, heads, inert
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("splinter",)
USUAL = "base"
INERT = {
    inert.NO_SUCH_SIZE: "head_dim num_key_value_heads",
}


def translate(c: Config, task: str) -> Fields:
    heads.only(c, task, "base")
    return {
        **bert_like.encoder(c),
        "norm": bert_like.POST_NORM,
        "embedding": bert_like.typed(c),
        **bert_like.blocks(c),
        "head": "none",
    }
