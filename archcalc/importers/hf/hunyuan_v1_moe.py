"""Hunyuan MoE: QK norm, routed experts and a shared expert in every block."""

from archcalc.importers.hf._helpers import Config, Fields
from archcalc.importers.hf._helpers.moe import mixtral_like, mixture


def translate(c: Config) -> Fields:
    width = c.size("intermediate_size")
    moe = mixture(c, c.size("num_experts"), width, shared=width)
    return mixtral_like(c, moe, attention={"bias": c.flag("attention_bias"), "qk_norm": "head"})
