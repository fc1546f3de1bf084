"""ConvNeXt V2: ConvNeXt with a global response norm in each block, and without learned factors."""

from archcalc.importers.hf._helpers import Config, Fields, convnext_like

USUAL = "image"
INERT = convnext_like.CONVNEXT_INERT


def translate(c: Config) -> Fields:
    return convnext_like.convnext_like(c, before_last=["response_norm"], behind_last=[])
