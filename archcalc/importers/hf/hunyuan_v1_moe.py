"""Hunyuan MoE: QK norm, routed experts and a shared expert in every block."""

from archcalc.importers.hf._helpers.moe import mixtral_like, mixture
from archcalc.importers.hf._helpers.reading import Config, Fields


def translate(c: Config, task: str) -> Fields:
    width = c.size("intermediate_size")
    moe = mixture(c, c.size("num_experts"), width, shared=width)
    return mixtral_like(c, task, moe, attention={"bias": c.flag("attention_bias"), "qk_norm": "head"})
