"""DINOv2: ViT with layer scale; its classifier takes the class token and the mean of the patches."""

from archcalc.importers.hf._helpers.dino_like import DINO_INERT, dino_like
from archcalc.importers.hf._helpers.reading import Config, Fields, when
from archcalc.importers.hf._helpers.vit_like import patches

USUAL = "image"
INERT = DINO_INERT


def translate(c: Config, task: str) -> Fields:
    return dino_like(c, task, patches(c, **when(c.flag("use_mask_token"), mask=True)))
