"""DistilBERT: BERT without token types and pooler."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers.blocks import Fields, stacked
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import activation
from archcalc.importers.hf.bert import classifier, language

TYPES = ("distilbert",)
USUAL = "masked"
INERT = "head_dim num_key_value_heads"


def translate(c: Config, task: str) -> Fields:
    d_model, number = c.size("dim"), c.size("n_heads")
    length = c.size("max_position_embeddings")
    fixed = c.flag("sinusoidal_pos_embds")
    position = {"kind": "sinusoidal", "stored": True} if fixed else {"kind": "learned"}
    return {
        "vocab": c.size("vocab_size"),
        "d_model": d_model,
        "heads": number,
        "head_dim": d_model // number,
        "ffn": {"width": c.size("hidden_dim"), "act": activation(c, "activation")},
        "norm": {"place": "post"},
        "position": {**position, "length": length},
        "embedding": {"norm": True},
        "encoder": stacked(["attention ffn"] * c.size("n_layers")),
        "head": _head(c, task, d_model),
    }


def _head(c: Config, task: str, d_model: int) -> Any:
    c.skip("tie_word_embeddings")
    if task == "base":
        return "none"
    if task == "masked":
        return language(c, twice=False)
    dense = {"hidden": d_model, "act": "relu"}
    return classifier(c, task, dense, choice=dense)
