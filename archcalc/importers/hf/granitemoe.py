"""Granite MoE: experts in every block."""

from __future__ import annotations

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.mixtral_like import mixtral_like
from archcalc.importers.hf._helpers.moe import mixture
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("granitemoe",)
USUAL = "causal"
INERT = {
    inert.ROUTING: "scoring_func",
    inert.SCALING: "embedding_multiplier logits_scaling residual_multiplier attention_multiplier",
}


def translate(c: Config, task: str) -> Fields:
    moe = mixture(c, c.size("num_local_experts"), c.size("intermediate_size"))
    return mixtral_like(c, task, moe, attention={"bias": c.flag("attention_bias")})
