"""Vision encoder of CLIP: a ViT with a norm before the blocks and a final norm on the class token only."""

from archcalc.importers.hf._helpers import Config, Fields, clip_like, heads, inert, vit_like

TYPES = ("clip_vision_model", "chinese_clip_vision_model")
USUAL = "base"
INERT = {inert.NOT_HERE: "projection_dim"}


def translate(c: Config) -> Fields:
    normed = {"pool": "class", "norm": True}
    table: heads.Table = {
        "base": lambda: {"kind": "none", **normed},
        "projection": lambda: {"kind": "classifier", "classes": c.size("projection_dim"), "bias": False, **normed},
    }
    return {
        **clip_like.tower(c),
        "embedding": vit_like.patches(c, bias=False, norm=True),
        "position": "learned",
        "encoder": c.size("num_hidden_layers"),
        "norm": {"final": False},
        "head": heads.for_task(c, table),
    }
