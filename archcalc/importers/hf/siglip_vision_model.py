"""Vision encoder of SigLIP: a ViT without a class token, with attention pooling from one learned query."""

from archcalc.importers.hf._helpers import Config, Fields, clip_like, vit_like

USUAL = "base"


def translate(c: Config) -> Fields:
    return {**clip_like.image_tower(c, vit_like.patches(c, tokens=0)), "head": clip_like.of_images(c)}
