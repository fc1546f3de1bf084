"""LED: BART with Longformer's attention in its encoder, and tables of positions of two lengths."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import activation
from archcalc.importers.hf.longformer import windows

TYPES = ("led",)
USUAL = "seq2seq"
INERT = "head_dim num_key_value_heads decoder_start_token_id"


def translate(c: Config, task: str) -> Fields:
    tied = c.flag("tie_word_embeddings")
    attention, variants, blocks = windows(c, c.size("encoder_layers"))
    narrow: Fields = {"attention": attention, **({"variants": variants} if variants else {})}
    return {
        "vocab": c.size("vocab_size"),
        "d_model": c.size("d_model"),
        "ffn": {"act": activation(c, "activation_function")},
        "norm": {"place": "post"},
        "embedding": {"norm": True, **({"shared": True} if tied else {"spare": True})},
        "encoder": {**_stack(c, "encoder"), **narrow, **(blocks if isinstance(blocks, dict) else {"blocks": blocks})},
        "decoder": {**_stack(c, "decoder"), "blocks": c.size("decoder_layers")},
        "head": _head(c, task, tied),
    }


def _stack(c: Config, name: str) -> Fields:
    return {
        "heads": c.size(f"{name}_attention_heads"),
        "ffn": c.size(f"{name}_ffn_dim"),
        "position": {"kind": "learned", "length": c.size(f"max_{name}_position_embeddings")},
    }


def _head(c: Config, task: str, tied: bool) -> Any:
    if task == "base":
        return "none"
    if task == "seq2seq":
        return "tied" if tied else "lm"
    if task == "answer":  # the class itself sets two labels: where an answer starts, and where it ends
        return {"kind": "classifier", "classes": 2, "bias": True}
    raise heads.refuse(c, task)
