"""Granite with attention sinks and sliding windows; each block has its RoPE base, where 0 means no RoPE."""

from __future__ import annotations

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import Fields, ffn
from archcalc.importers.hf._helpers.granite_like import granite_windows
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("granite_swa",)
USUAL = "causal"
INERT = {
    inert.SCALING: "embedding_multiplier logits_scaling residual_multiplier attention_multiplier",
}


def translate(c: Config, task: str) -> Fields:
    return granite_windows(c, task, "ffn", ffn=ffn(c, bias=c.flag("mlp_bias")))
