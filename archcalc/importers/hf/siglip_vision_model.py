"""Vision encoder of SigLIP: a ViT without a class token, with attention pooling from one learned query."""

from __future__ import annotations

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.clip_like import image_tower, of_images
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.vit_like import patches

TYPES = ("siglip_vision_model",)
USUAL = "base"
INERT = {
    inert.NO_SUCH_SIZE: "head_dim num_key_value_heads",
}


def translate(c: Config, task: str) -> Fields:
    return {**image_tower(c, patches(c, tokens=0)), "head": of_images(c, task)}
