"""Granite MoE with a shared expert: routed experts and one shared expert in every block."""

from archcalc.importers.hf._helpers.mixtral_like import mixtral_like
from archcalc.importers.hf._helpers.moe import mixture
from archcalc.importers.hf._helpers.reading import Config, Fields


def translate(c: Config, task: str) -> Fields:
    width, shared = c.size("intermediate_size"), c.count("shared_intermediate_size")
    moe = mixture(c, c.size("num_local_experts"), width, shared=shared)
    return mixtral_like(c, task, moe, attention={"bias": c.flag("attention_bias")})
