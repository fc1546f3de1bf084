"""Vision encoder of Idefics 3 and SmolVLM: SigLIP's vision encoder without the pooling head."""

from archcalc.importers.hf._helpers import Config, Fields, clip_like, heads, vit_like

TYPES = ("idefics3_vision", "smolvlm_vision")
USUAL = "base"


def translate(c: Config) -> Fields:
    heads.only(c, "base")
    return {**clip_like.image_tower(c, vit_like.patches(c, tokens=0)), "head": "none"}
