"""VaultGemma: Gemma 2 without the norms after attention and FFN."""

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.gemma_like import gemma_like
from archcalc.importers.hf._helpers.layer_types import every, layer_types, sliding
from archcalc.importers.hf._helpers.reading import Config, Fields

INERT = {inert.USUAL_LAYERS: "sliding_window_pattern"}


def translate(c: Config, task: str) -> Fields:
    layers = sliding(c, layer_types(c, every(c, 2)), c.given("sliding_window"))
    return gemma_like(c, task, norm="rms", **layers)
