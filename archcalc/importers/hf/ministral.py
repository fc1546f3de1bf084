"""Ministral: Llama with sliding-window attention in the blocks that layer_types lists, or in all of them."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, ffn
from archcalc.importers.hf._helpers.layer_types import layer_types, sliding, sliding_from


def translate(c: Config) -> Fields:
    window = c.given("sliding_window")
    usual = sliding_from(c, 0, slides=window is not None)
    return decoder(c, ffn=ffn(c, bias=c.flag("mlp_bias")), **sliding(c, layer_types(c, usual), window))
