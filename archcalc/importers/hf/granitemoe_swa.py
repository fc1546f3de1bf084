"""Granite with experts, sinks and windows; RoPE has a base for each block, and 0 means none."""

from __future__ import annotations

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.granite_like import granite_windows
from archcalc.importers.hf._helpers.moe import mixture
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("granitemoe_swa",)
USUAL = "causal"
INERT = {
    inert.SCALING: "embedding_multiplier logits_scaling residual_multiplier attention_multiplier",
}


def translate(c: Config, task: str) -> Fields:
    number, width = c.size("num_local_experts"), c.size("intermediate_size")
    moe = mixture(c, number, width, shared=c.count("shared_intermediate_size"))
    return granite_windows(c, task, "moe", ffn=None, moe=moe)
