"""Vision encoder of SigLIP: a ViT without a class token, with attention pooling from one learned query."""

from archcalc.importers.hf._helpers.clip_like import image_tower, of_images
from archcalc.importers.hf._helpers.reading import Config, Fields
from archcalc.importers.hf._helpers.vit_like import patches

USUAL = "base"


def translate(c: Config, task: str) -> Fields:
    return {**image_tower(c, patches(c, tokens=0)), "head": of_images(c, task)}
