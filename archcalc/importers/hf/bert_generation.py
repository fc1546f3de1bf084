"""BERT for generation: no token types, and a head that is the token table and a bias."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf import heads
from archcalc.importers.hf.bert import encoder
from archcalc.importers.hf.blocks import Fields, stacked
from archcalc.importers.hf.reading import Config

TYPES = ("bert-generation",)
USUAL = "causal"
INERT = "head_dim num_key_value_heads"


def _head(c: Config, task: str) -> Any:
    """Untied, the class keeps a second bias."""
    head = heads.of_decoder(c, task, bias=True)
    return {"kind": "lm", "bias": "twice"} if task == "causal" and head["kind"] == "lm" else head


def translate(c: Config, task: str) -> Fields:
    causal = c.flag("is_decoder")
    crossed = c.flag("add_cross_attention") and causal
    line = "attention cross ffn" if crossed else "attention ffn"
    return {
        **encoder(c),
        "cross": {"memory": c.size("hidden_size")} if crossed else None,
        "norm": {"place": "post"},
        "embedding": {"norm": True},
        "decoder" if causal else "encoder": stacked([line] * c.size("num_hidden_layers")),
        "head": _head(c, task),
    }
