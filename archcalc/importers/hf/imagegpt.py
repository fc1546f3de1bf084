"""ImageGPT: a GPT-2 of pixels, with RMS norms."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.blocks import Fields, stacked
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import activation

TYPES = ("imagegpt",)
USUAL = "pixels"
INERT = "head_dim num_key_value_heads scale_attn_weights scale_attn_by_inverse_layer_idx reorder_and_upcast_attn"


def translate(c: Config, task: str) -> Fields:
    d_model, number = c.size("n_embd"), c.size("n_head")
    crossed = c.flag("add_cross_attention")
    line = "attention cross ffn" if crossed else "attention ffn"
    return {
        "vocab": c.size("vocab_size"),
        "d_model": d_model,
        "heads": number,
        "head_dim": d_model // number,
        "cross": {"memory": d_model} if crossed else None,
        "ffn": {"width": c.size_or("n_inner", 4 * d_model), "act": activation(c, "activation_function")},
        "norm": "rms",
        "position": {"kind": "learned", "length": c.size("n_positions")},
        "decoder": stacked([line] * c.size("n_layer")),
        "head": _head(c, task),
    }


def _head(c: Config, task: str) -> Any:
    c.skip("tie_word_embeddings")
    if task == "base":
        return "none"
    if task == "image":
        return {"kind": "classifier", "classes": heads.labels(c), "pool": "mean"}
    if task == "pixels":
        if c.flag("tie_word_embeddings"):
            raise c.refused("tie_word_embeddings", "the head has one row less than the table")
        return {"kind": "lm", "vocab": c.size("vocab_size") - 1}
    raise heads.refuse(c, task)
