"""Mixtral: MoE in every block, optional sliding-window attention."""

from archcalc.importers.hf._helpers.blocks import window
from archcalc.importers.hf._helpers.moe import experts, mixtral_like
from archcalc.importers.hf._helpers.reading import Config, Fields


def translate(c: Config, task: str) -> Fields:
    moe = experts(c, "num_local_experts", "intermediate_size")
    return mixtral_like(c, task, moe, attention={"bias": c.flag("attention_bias"), **window(c)})
