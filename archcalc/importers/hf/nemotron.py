"""Nemotron: a plain FFN of squared ReLUs, layer norms, half of each head rotated."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields, decoder, ffn, head_dim
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import rope

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
