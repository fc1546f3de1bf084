"""ConvNeXt V2: ConvNeXt with a global response norm in each block, and without learned factors."""

from archcalc.importers.hf._helpers.convnext_like import CONVNEXT_INERT, convnext_like
from archcalc.importers.hf._helpers.reading import Config, Fields

USUAL = "image"
INERT = CONVNEXT_INERT


def translate(c: Config, task: str) -> Fields:
    return convnext_like(c, task, before_last=["response_norm"], behind_last=[])
