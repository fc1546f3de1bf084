"""Granite MoE with attention sinks and sliding windows; each block has its RoPE base, where 0 means no RoPE."""

from archcalc.importers.hf._helpers.granite_like import granite_windows
from archcalc.importers.hf._helpers.moe import experts
from archcalc.importers.hf._helpers.reading import Config, Fields


def translate(c: Config, task: str) -> Fields:
    moe = experts(c, "num_local_experts", "intermediate_size", shared_width="shared_intermediate_size")
    return granite_windows(c, task, "moe", ffn=None, moe=moe)
