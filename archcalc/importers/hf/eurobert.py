"""EuroBERT and UltraBERT: Llamas that see the whole text."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.blocks import Fields, attention, ffn, head_dim, layer_types, sliding
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import rope

TYPES = ("eurobert", "ultrabert")
USUAL = "masked"
INERT = "classifier_pooling pretraining_tp prediction_head_size"


def translate(c: Config, task: str) -> Fields:
    found = _stack(c)
    return {
        "vocab": c.size("vocab_size"),
        "d_model": c.size("hidden_size"),
        **attention(c),
        "attention": {"bias": c.flag("attention_bias")},
        "ffn": ffn(c, bias=c.flag("mlp_bias")),
        "norm": "rms",
        "bias": False,
        "position": rope(c, head_dim(c)),
        "variants": found.get("variants"),
        "encoder": found["decoder"],
        "head": _head(c, task),
    }


def _stack(c: Config) -> Fields:
    full = ["full_attention"] * c.size("num_hidden_layers")
    if c.type == "eurobert":
        return sliding(c, full, None)
    return sliding(c, layer_types(c, full), c.size_or("sliding_window", 0) or None)


def _head(c: Config, task: str) -> Any:
    c.skip("tie_word_embeddings")
    if task == "base":
        return "none"
    if task == "masked" and c.type == "eurobert":
        kind = "tied" if c.flag("tie_word_embeddings") else "lm"
        return {"kind": kind, "bias": True} if c.flag("mlp_bias") else kind  # one key for both, in its class
    if task == "sequence":
        hidden = {"hidden": c.size("hidden_size"), "act": "gelu"} if c.type == "eurobert" else {}
        return {"kind": "classifier", "classes": heads.labels(c), "bias": True, "pool": "class", **hidden}
    if task in ("token", "answer"):
        return {"kind": "classifier", "classes": 2 if task == "answer" else heads.labels(c), "bias": True}
    raise heads.refuse(c, task)
