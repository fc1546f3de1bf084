"""MiniMax-M2: QK norm over all heads together, MoE in every block, a router with a score-correction bias."""

from archcalc.importers.hf._helpers.moe import experts, mixtral_like
from archcalc.importers.hf._helpers.reading import Config, Fields


def translate(c: Config, task: str) -> Fields:
    moe = experts(c, "num_local_experts", "intermediate_size", correction=True)
    return mixtral_like(c, task, moe, attention={"bias": c.flag("attention_bias"), "qk_norm": "all"})
