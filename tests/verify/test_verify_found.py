"""Specs whose numbers once differed from PyTorch's, each reduced to what made the difference."""

from __future__ import annotations

from typing import Any

import pytest

import archcalc
from archcalc.verify.check import verify

Spec = dict[str, Any]

WINDOWS: Spec = {
    "vocab": 5,
    "d_model": 6,
    "heads": 1,
    "head_dim": 2,
    "norm": "rms",
    "ffn": 3,
    "encoder": 1,
    "decoder": {
        "blocks": 4,
        "variants": {"local": {"like": "attention", "window": 2}},
        "pattern": ["local cross ffn", "attention cross ffn"],
    },
}
POOLED: Spec = {"vocab": 5, "d_model": 8, "heads": 2, "ffn": 3, "encoder": 1}
NARROW: Spec = {"width": 4, "project": "tokens"}  # states are projected to the tables' width
RELATIVE: Spec = {"kind": "relative", "buckets": 4}

FOUND: dict[str, Spec] = {
    "a stack's relative positions in caches of two lengths": {**WINDOWS, "position": {**RELATIVE, "per": "stack"}},
    "a block's relative positions in caches of two lengths": {**WINDOWS, "position": {**RELATIVE, "per": "block"}},
    "one ALiBi bias for two kinds of attention": {**WINDOWS, "position": "alibi"},
    "a pooler of states as narrow as the tables": {
        **POOLED,
        "embedding": NARROW,
        "head": {"kind": "classifier", "classes": 3, "pool": "class", "pooler": True},
    },
    "a norm on the mean of states as narrow as the tables": {
        **POOLED,
        "embedding": NARROW,
        "head": {"kind": "none", "pool": "mean", "norm": True},
    },
    "a pooler of what is projected": {
        **POOLED,
        "head": {"kind": "classifier", "classes": 3, "pool": "class", "pooler": True, "project": 7},
    },
}


@pytest.mark.parametrize("what", FOUND)
def test_every_row_is_equal(what: str) -> None:
    model = archcalc.load(FOUND[what])
    report = verify(model, model.workload(batch=1, **dict.fromkeys(model.resolved.lengths, 5)))
    assert report.ok, report.answer()
