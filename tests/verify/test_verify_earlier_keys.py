"""Blocks that read what others made, values that are keys, parts with norms of their own: each beside PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

import archcalc
from archcalc.verify.check import verify

Spec = dict[str, Any]
SMALL: Spec = {"vocab": 9, "d_model": 8, "heads": 4, "kv_heads": 2, "head_dim": 4, "ffn": 6, "norm": "rms"}
TWICE: Spec = {"repeat": 2, "pattern": ["late_local ffn", "late ffn"]}
READING: Spec = {
    "position": "rope",
    "attention": {"qk_norm": "head", "v_norm": {"affine": False}},
    "variants": {
        "local": {"like": "attention", "window": 3},
        "late_local": {"like": "local", "kv_of": "local"},
        "late": {"like": "attention", "kv_of": "attention", "heads": 2},
    },
    "decoder": {"pattern": ["2 × local ffn", "attention ffn", TWICE]},
}
KEYS: Spec = {"position": "rope", "attention": {"values": "keys", "qk_norm": "head", "v_norm": "all"}, "decoder": 2}
VECTORS: Spec = {
    "per_layer": {"width": 3, "vocab": 7, "norm": {"place": "out"}},
    "decoder": {"pattern": ["2 × attention ffn per_layer", "attention ffn"]},
}
EXPERTS: Spec = {"experts": 3, "top": 2, "width": 5, "router_norm": True, "expert_scale": True}
BESIDE: Spec = {
    "norm": {"kind": "rms", "place": "sandwich"},
    "moe": EXPERTS,
    "beside": "separate",
    "block_scale": True,
    "decoder": {"blocks": 2, "pattern": ["attention ffn+moe"]},
}
WAYS = [("eager", "none"), ("eager", "block"), ("flash", "ops")]


@pytest.mark.wide(3)
@pytest.mark.parametrize("way", WAYS, ids="-".join)
@pytest.mark.parametrize("said", [READING, KEYS, VECTORS, BESIDE], ids=["earlier keys", "keys", "vectors", "beside"])
def test_every_row_is_equal(said: Spec, way: tuple[str, str]) -> None:
    model = archcalc.load({**SMALL, **said})
    report = verify(model, model.workload(batch=2, seq=5), way=way)
    assert report.ok, report.answer()


def test_a_vector_for_the_row_and_one_for_the_column_of_a_patch() -> None:
    image = {"kind": "patches", "image": [8, 12], "patch": 4, "tokens": 0}
    sizes = {name: value for name, value in SMALL.items() if name != "vocab"}
    position = {"kind": "learned", "per_side": 5}
    model = archcalc.load({**sizes, "embedding": image, "position": position, "encoder": 1, "head": "none"})
    report = verify(model, model.workload(batch=2), way=("eager", "none"))
    assert report.ok, report.answer()
