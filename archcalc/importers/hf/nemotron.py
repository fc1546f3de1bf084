"""Nemotron: a plain FFN of squared ReLUs, layer norms, half of each head rotated."""

from __future__ import annotations

from archcalc.importers.hf.blocks import Fields, decoder, ffn, head_dim
from archcalc.importers.hf.reading import Config
from archcalc.importers.hf.words import rope

TYPES = ("nemotron",)
USUAL = "causal"
INERT = ""


def translate(c: Config, task: str) -> Fields:
    return decoder(
        c,
        task,
        attention={"bias": c.flag("attention_bias")},
        ffn=ffn(c, gated=False, bias=c.flag("mlp_bias")),
        norm="layer",
        position=rope(c, head_dim(c), fraction=0.5),
    )
