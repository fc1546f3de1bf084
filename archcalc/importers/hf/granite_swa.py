"""Granite with attention sinks and sliding windows; each block has its RoPE base, where 0 means no RoPE."""

from archcalc.importers.hf._helpers import Config, Fields, ffn, granite_like


def translate(c: Config) -> Fields:
    return granite_like.granite_windows(c, "ffn", ffn=ffn(c, bias=c.flag("mlp_bias")))
