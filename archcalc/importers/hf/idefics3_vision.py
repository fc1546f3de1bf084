"""Vision encoder of Idefics 3 and SmolVLM: SigLIP's vision encoder without the pooling head."""

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.clip_like import image_tower
from archcalc.importers.hf._helpers.reading import Config, Fields
from archcalc.importers.hf._helpers.vit_like import patches

TYPES = ("idefics3_vision", "smolvlm_vision")
USUAL = "base"


def translate(c: Config, task: str) -> Fields:
    heads.only(c, task, "base")
    return {**image_tower(c, patches(c, tokens=0)), "head": "none"}
