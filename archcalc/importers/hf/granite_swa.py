"""Granite with attention sinks and sliding windows; each block has its RoPE base, where 0 means no RoPE."""

from archcalc.importers.hf._helpers.blocks import ffn
from archcalc.importers.hf._helpers.granite_like import granite_windows
from archcalc.importers.hf._helpers.reading import Config, Fields


def translate(c: Config, task: str) -> Fields:
    return granite_windows(c, task, "ffn", ffn=ffn(c, bias=c.flag("mlp_bias")))
