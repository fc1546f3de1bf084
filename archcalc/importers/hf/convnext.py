"""ConvNeXt: depthwise convolutions of 7 × 7, layer norms, and a learned factor for each channel of a block."""

from archcalc.importers.hf._helpers.convnext_like import CONVNEXT_INERT, convnext_like
from archcalc.importers.hf._helpers.reading import Config, Fields

USUAL = "image"
INERT = CONVNEXT_INERT


def translate(c: Config, task: str) -> Fields:
    scaled = c.get("layer_scale_init_value")
    if isinstance(scaled, bool) or not isinstance(scaled, int | float):
        raise c.wrong("layer_scale_init_value", "a number")
    return convnext_like(c, task, before_last=[], behind_last=["scale"] * (scaled > 0))
