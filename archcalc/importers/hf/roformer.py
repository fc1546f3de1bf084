"""RoFormer: BERT with rotary positions, whose angles are kept as a table."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf.bert import classifier, encoder, language, stack

TYPES = ("roformer",)
USUAL = "masked"
INERT = (
    "head_dim num_key_value_heads rotary_value summary_type summary_activation summary_proj_to_labels summary_use_proj"
)


def translate(c: Config, task: str) -> Fields:
    d_model, number = c.size("hidden_size"), c.size("num_attention_heads")
    width = c.size_or("embedding_size", d_model)
    if d_model // number % 2:
        raise c.refused("num_attention_heads", "rotary positions turn pairs of numbers: such a model cannot run")
    return {
        **encoder(c),
        "norm": {"place": "post"},
        "position": {"kind": "rope", "length": c.size("max_position_embeddings"), "stored": True},
        "embedding": {
            "norm": True,
            "types": c.count("type_vocab_size"),
            **({"width": width} if width != d_model else {}),
        },
        **stack(c),
        "head": _head(c, task),
    }


def _head(c: Config, task: str) -> Any:
    c.skip("tie_word_embeddings")
    if task == "base":
        return "none"
    if task in ("masked", "causal"):
        return language(c, twice=True)
    if task == "answer":  # where it starts, and where it ends, whatever else there are labels for
        return {"kind": "classifier", "classes": 2, "bias": True}
    hidden = {"hidden": c.size("hidden_size"), "act": "gelu"}
    return classifier(c, task, hidden, choice={"pool": "last"})
