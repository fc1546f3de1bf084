"""Mixtral: MoE in every block, optional sliding-window attention."""

from archcalc.importers.hf._helpers import Config, Fields, window
from archcalc.importers.hf._helpers.moe import experts, mixtral_like


def translate(c: Config) -> Fields:
    moe = experts(c, "num_local_experts", "intermediate_size")
    return mixtral_like(c, moe, attention={"bias": c.flag("attention_bias"), **window(c)})
