"""Code World Model: Llama with sliding-window attention in three of four blocks."""

from archcalc.importers.hf._helpers.blocks import decoder, ffn
from archcalc.importers.hf._helpers.layer_types import first_of_every, layer_types, sliding
from archcalc.importers.hf._helpers.reading import Config, Fields


def translate(c: Config, task: str) -> Fields:
    layers = sliding(c, layer_types(c, first_of_every(c, 4)), c.given("sliding_window"))
    return decoder(c, task, ffn=ffn(c, bias=c.flag("mlp_bias")), **layers)
