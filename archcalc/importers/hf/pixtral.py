"""Pixtral's eye: patches of any image, rotated; Llama's blocks, without a norm behind them."""

from __future__ import annotations

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.blocks import Fields, ffn
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import rope
from archcalc.importers.hf.vit import patches

TYPES = ("pixtral",)
USUAL = "base"
INERT = "num_key_value_heads"


def translate(c: Config, task: str) -> Fields:
    if task != "base":
        raise heads.refuse(c, task)
    d_model, number = c.size("hidden_size"), c.size("num_attention_heads")
    c.skip("head_dim")
    c.notes.append("the class puts all images of a batch into one sequence; each is counted by itself")
    return {
        "d_model": d_model,
        "heads": number,
        "ffn": ffn(c),
        "norm": {"kind": "rms", "final": False},
        "bias": False,
        "position": rope(c, d_model // number),
        "embedding": {**patches(c), "tokens": 0, "bias": False, "norm": True},
        "encoder": c.size("num_hidden_layers"),
        "head": "none",
    }
