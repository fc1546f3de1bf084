"""Gemma 2: norms before and after each sublayer, alternating sliding-window and full attention, logit soft-capping."""

from archcalc.importers.hf._helpers import Config, Fields, gemma_like, inert
from archcalc.importers.hf._helpers.layer_types import every, layer_types, sliding

INERT = {inert.USUAL_LAYERS: "sliding_window_pattern", inert.RUNNING: "use_bidirectional_attention"}


def translate(c: Config) -> Fields:
    layers = sliding(c, layer_types(c, every(c, 2)), c.given("sliding_window"))
    return gemma_like.gemma(c, norm={"kind": "rms", "place": "sandwich"}, **layers)
