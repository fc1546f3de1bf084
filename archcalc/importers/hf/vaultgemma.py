"""VaultGemma: Gemma 2 without the norms after attention and FFN."""

from archcalc.importers.hf._helpers import Config, Fields, gemma_like, inert
from archcalc.importers.hf._helpers.layer_types import every, layer_types, sliding

INERT = {inert.USUAL_LAYERS: "sliding_window_pattern"}


def translate(c: Config) -> Fields:
    layers = sliding(c, layer_types(c, every(c, 2)), c.given("sliding_window"))
    return gemma_like.gemma(c, norm="rms", **layers)
