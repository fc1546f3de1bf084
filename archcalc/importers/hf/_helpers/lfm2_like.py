"""LFM2's blocks: short gated convolutions, and attention with QK norm."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import where_used
from archcalc.importers.hf._helpers.layer_types import FULL, layer_types
from archcalc.importers.hf._helpers.reading import Config, Fields

CONV = "conv"


def conv_mixers(c: Config, usual: list[str]) -> list[str]:
    """A convolution or attention, for each block."""
    layers = layer_types(c, usual, known=(CONV, FULL))
    return [CONV if layer == CONV else "attention" for layer in layers]


def convolutions(c: Config, mixers: list[str]) -> Fields:
    """The options of both, each only if a block has it."""
    kernel = {"kind": "gated", "kernel": c.size("conv_L_cache"), "bias": c.flag("conv_bias")}
    return where_used(mixers, attention=lambda: {"qk_norm": "head"}, conv=lambda: kernel)
