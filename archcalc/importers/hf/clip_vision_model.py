"""Vision encoder of CLIP: a ViT with a norm before the blocks and a final norm on the class token only."""

from __future__ import annotations

from archcalc.importers.hf._helpers import heads, inert
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.clip_like import tower
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.vit_like import patches

TYPES = ("clip_vision_model", "chinese_clip_vision_model")
USUAL = "base"
INERT = {
    inert.NO_SUCH_SIZE: "head_dim num_key_value_heads",
    inert.STARTING: "initializer_factor",
    inert.NOT_HERE: "projection_dim",
}


def translate(c: Config, task: str) -> Fields:
    normed = {"pool": "class", "norm": True}
    table: heads.Table = {
        "base": lambda: {"kind": "none", **normed},
        "projection": lambda: {"kind": "classifier", "classes": c.size("projection_dim"), "bias": False, **normed},
    }
    return {
        **tower(c),
        "embedding": patches(c, bias=False, norm=True),
        "position": "learned",
        "encoder": c.size("num_hidden_layers"),
        "norm": {"final": False},
        "head": heads.for_task(c, task, table),
    }
