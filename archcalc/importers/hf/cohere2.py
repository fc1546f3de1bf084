"""Command R7B and Command A: Command R with sliding windows in most blocks; full-attention blocks have no RoPE."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, inert
from archcalc.importers.hf._helpers.layer_types import every, layer_types, sliding

INERT = {inert.USUAL_LAYERS: "sliding_window_pattern"}


def translate(c: Config) -> Fields:
    layers = layer_types(c, every(c, c.given("sliding_window_pattern") or 4))
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias")},
        norm={"kind": "layer", "bias": False},
        parallel="shared",
        **sliding(c, layers, c.given("sliding_window"), full={"position": "none"}),
    )
