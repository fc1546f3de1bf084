"""Granite MoE with attention sinks and sliding windows; each block has its RoPE base, where 0 means no RoPE."""

from archcalc.importers.hf._helpers.granite_like import granite_windows
from archcalc.importers.hf._helpers.moe import mixture
from archcalc.importers.hf._helpers.reading import Config, Fields


def translate(c: Config, task: str) -> Fields:
    number, width = c.size("num_local_experts"), c.size("intermediate_size")
    moe = mixture(c, number, width, shared=c.count("shared_intermediate_size"))
    return granite_windows(c, task, "moe", ffn=None, moe=moe)
