"""LFM2's blocks: short gated convolutions, and attention with QK norm."""

from __future__ import annotations

from archcalc.importers.hf._helpers import Config, Fields, Value, heads, where_used
from archcalc.importers.hf._helpers.layer_types import FULL, layer_types

_MIXERS = {"conv": "conv", FULL: "attention"}


def conv_mixers(c: Config, usual: list[str]) -> list[str]:
    """A convolution or attention, for each block."""
    return [_MIXERS[layer] for layer in layer_types(c, usual, known=_MIXERS)]


def lfm2_head(c: Config) -> Value:
    """`tie_embedding` of older files takes precedence."""
    if c.task != "causal" or c.given("tie_embedding") is None:
        return heads.of_decoder(c)
    c.skip("tie_word_embeddings")
    if c.given("tie_embedding"):
        return "tied"
    return "lm"


def convolutions(c: Config, mixers: list[str]) -> Fields:
    """The options of both, each only if a block has it."""
    kernel = {"kind": "gated", "kernel": c.size("conv_L_cache"), "bias": c.flag("conv_bias")}
    return where_used(mixers, attention=lambda: {"qk_norm": "head"}, conv=lambda: kernel)
