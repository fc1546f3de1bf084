"""ViT: a vision encoder over image patches with a class token."""

from typing import Any

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.reading import Config, Fields, when
from archcalc.importers.hf._helpers.vit_like import VIT_INERT, classes_of_image, hidden_pixels, patches, pooled, vit

USUAL = "image"
INERT = VIT_INERT


def translate(c: Config, task: str) -> Fields:
    hides = when(task == "masked_image", mask=True)
    return vit(c, embedding=patches(c, **hides), head=_head(c, task))


def _head(c: Config, task: str) -> Any:
    table: heads.Table = {
        "base": lambda: pooled(c),
        "image": lambda: classes_of_image(c, "class"),
        "masked_image": lambda: hidden_pixels(c),
    }
    return heads.for_task(c, task, table)
