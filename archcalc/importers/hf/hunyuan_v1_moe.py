"""Hunyuan MoE: QK norm, routed experts and a shared expert in every block."""

from __future__ import annotations

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.mixtral_like import mixtral_like
from archcalc.importers.hf._helpers.moe import mixture
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("hunyuan_v1_moe",)
USUAL = "causal"
INERT = {
    inert.TOKENS: "eod_token_id",
}


def translate(c: Config, task: str) -> Fields:
    width = c.size("intermediate_size")
    moe = mixture(c, c.size("num_experts"), width, shared=width)
    return mixtral_like(c, task, moe, attention={"bias": c.flag("attention_bias"), "qk_norm": "head"})
