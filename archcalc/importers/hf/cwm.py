"""Code World Model: Llama with sliding-window attention in three of four blocks."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, ffn
from archcalc.importers.hf._helpers.layer_types import first_of_every, layer_types, sliding


def translate(c: Config) -> Fields:
    layers = sliding(c, layer_types(c, first_of_every(c, 4)), c.given("sliding_window"))
    return decoder(c, ffn=ffn(c, bias=c.flag("mlp_bias")), **layers)
