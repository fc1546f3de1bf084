"""DINOv2 with registers, and the vision encoder of TIPS v2: extra register tokens, dropped from the output."""

from archcalc.importers.hf._helpers.dino_like import DINO_INERT, dino_like
from archcalc.importers.hf._helpers.reading import Config, Fields
from archcalc.importers.hf._helpers.vit_like import patches

TYPES = ("dinov2_with_registers", "tipsv2_vision_model")
USUAL = "image"
INERT = DINO_INERT


def translate(c: Config, task: str) -> Fields:
    return dino_like(c, task, patches(c, registers=c.count("num_register_tokens"), mask=True))
