"""DINOv2: ViT with layer scale; its classifier takes the class token and the mean of the patches."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.dino_like import DINO_INERT, dino_like
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.vit_like import patches

TYPES = ("dinov2",)
USUAL = "image"
INERT = DINO_INERT


def translate(c: Config, task: str) -> Fields:
    mask = {"mask": True} if c.flag("use_mask_token") else {}
    return dino_like(c, task, patches(c, **mask))
