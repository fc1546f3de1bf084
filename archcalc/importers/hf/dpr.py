"""DPR: a BERT that sums a text up, as it is or projected; and Splinter's bare encoder, a BERT too."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf.bert import encoder, stack

TYPES = ("dpr", "splinter")
USUAL = "base"
INERT = "head_dim num_key_value_heads"


def translate(c: Config, task: str) -> Fields:
    return {
        **encoder(c),
        "norm": {"place": "post"},
        "embedding": {"norm": True, "types": c.count("type_vocab_size")},
        **stack(c),
        "head": _head(c, task),
    }


def _head(c: Config, task: str) -> Any:
    width = c.count("projection_dim") if c.type == "dpr" else 0
    one = {"kind": "classifier", "bias": True}
    if task == "base":
        return {**one, "classes": width, "pool": "class"} if width else "none"
    if task == "reader" and not width:
        return {**one, "classes": 2, "beside": {**one, "classes": 1, "pool": "class"}}
    raise heads.refuse(c, task)
