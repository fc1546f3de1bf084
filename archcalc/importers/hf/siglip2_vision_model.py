"""Vision encoder of SigLIP 2 (NaFlex): takes patches of images of any shape, up to num_patches."""

from math import isqrt

from archcalc.importers.hf._helpers import Config, Fields, clip_like

USUAL = "base"


def translate(c: Config) -> Fields:
    """Counts a square image of num_patches patches."""
    number, side = c.size("num_patches"), c.size("patch_size")
    rows = isqrt(number)
    if rows * rows != number:
        raise c.refused("num_patches", "positions of so many patches make no square")
    patches = {"kind": "patches", "image": rows * side, "patch": side, "channels": c.size("num_channels"), "tokens": 0}
    return {**clip_like.image_tower(c, patches), "head": clip_like.of_images(c)}
