"""DINOv2 with registers, and the vision encoder of TIPS v2: extra register tokens, dropped from the output."""

from archcalc.importers.hf._helpers import Config, Fields, dino_like, vit_like

TYPES = ("dinov2_with_registers", "tipsv2_vision_model")
USUAL = "image"
INERT = dino_like.DINO_INERT


def translate(c: Config) -> Fields:
    return dino_like.dino_like(c, vit_like.patches(c, registers=c.count("num_register_tokens"), mask=True))
