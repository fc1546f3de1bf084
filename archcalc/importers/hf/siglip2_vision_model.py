"""Vision encoder of SigLIP 2 (NaFlex): takes patches of images of any shape, up to num_patches."""

from math import isqrt

from archcalc.importers.hf._helpers.clip_like import image_tower, of_images
from archcalc.importers.hf._helpers.reading import Config, Fields

USUAL = "base"


def translate(c: Config, task: str) -> Fields:
    return {**image_tower(c, _patches(c)), "head": of_images(c, task)}


def _patches(c: Config) -> Fields:
    """Counts a square image of num_patches patches."""
    number, side = c.size("num_patches"), c.size("patch_size")
    rows = isqrt(number)
    if rows * rows != number:
        raise c.refused("num_patches", "positions of so many patches make no square")
    return {"kind": "patches", "image": rows * side, "patch": side, "channels": c.size("num_channels"), "tokens": 0}
