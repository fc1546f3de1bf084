"""BERT for generation: no token types, and a head that is the token table and a bias."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf.bert import encoder, stack

TYPES = ("bert-generation",)
USUAL = "causal"
INERT = "head_dim num_key_value_heads"


def _head(c: Config, task: str) -> Any:
    """Untied, the class keeps a second bias."""
    head = heads.of_decoder(c, task, bias=True)
    return {"kind": "lm", "bias": "twice"} if task == "causal" and head["kind"] == "lm" else head


def translate(c: Config, task: str) -> Fields:
    return {
        **encoder(c),
        "norm": {"place": "post"},
        "embedding": {"norm": True},
        **stack(c),
        "head": _head(c, task),
    }
