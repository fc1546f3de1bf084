"""MiniMax-M2: QK norm over all heads together, MoE in every block, a router with a score-correction bias."""

from archcalc.importers.hf._helpers import Config, Fields
from archcalc.importers.hf._helpers.moe import experts, mixtral_like


def translate(c: Config) -> Fields:
    moe = experts(c, "num_local_experts", "intermediate_size", correction=True)
    return mixtral_like(c, moe, attention={"bias": c.flag("attention_bias"), "qk_norm": "all"})
