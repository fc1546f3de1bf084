"""DINOv2: ViT with layer scale; its classifier takes the class token and the mean of the patches."""

from archcalc.importers.hf._helpers import Config, Fields, dino_like, vit_like, when

USUAL = "image"
INERT = dino_like.DINO_INERT


def translate(c: Config) -> Fields:
    return dino_like.dino_like(c, vit_like.patches(c, **when(c.flag("use_mask_token"), mask=True)))
