"""ConvNeXt: depthwise convolutions of 7 × 7, layer norms, and a learned factor for each channel of a block."""

from archcalc.importers.hf._helpers import Config, Fields, convnext_like

USUAL = "image"
INERT = convnext_like.CONVNEXT_INERT


def translate(c: Config) -> Fields:
    scaled = c.get("layer_scale_init_value")
    if isinstance(scaled, bool) or not isinstance(scaled, int | float):
        raise c.wrong("layer_scale_init_value", "a number")
    return convnext_like.convnext_like(c, before_last=[], behind_last=["scale"] * (scaled > 0))
