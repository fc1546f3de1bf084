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
RELATIVE: Spec = {"kind": "relative", "buckets": 4}

FOUND: dict[str, Spec] = {
    "a stack's relative positions in caches of two lengths": {**WINDOWS, "position": {**RELATIVE, "per": "stack"}},
    "a block's relative positions in caches of two lengths": {**WINDOWS, "position": {**RELATIVE, "per": "block"}},
    "one ALiBi bias for two kinds of attention": {**WINDOWS, "position": "alibi"},
}


@pytest.mark.parametrize("what", FOUND)
def test_every_row_is_equal(what: str) -> None:
    model = archcalc.load(FOUND[what])
    report = verify(model, model.workload(batch=1, **dict.fromkeys(model.resolved.lengths, 5)))
    assert report.ok, report.answer()
