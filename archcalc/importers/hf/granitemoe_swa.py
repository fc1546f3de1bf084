"""Granite MoE with attention sinks and sliding windows; each block has its RoPE base, where 0 means no RoPE."""

from archcalc.importers.hf._helpers import Config, Fields, granite_like
from archcalc.importers.hf._helpers.moe import experts


def translate(c: Config) -> Fields:
    moe = experts(c, "num_local_experts", "intermediate_size", shared_width="shared_intermediate_size")
    return granite_like.granite_windows(c, "moe", ffn=None, moe=moe)
