"""Layers that carry a state along the sequence are compared in every row."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

import archcalc
from archcalc.verify.check import verify

TRAINING = ("backward FLOPs", "bytes saved for backward, fp32", "bytes saved for backward, bf16")
DECODING = ("FLOPs", "bytes cached for the next token, fp32", "bytes cached for the next token, bf16")
ROWS = {
    "": ("parameters", "parameter tensors, by name and shape", "module shapes"),
    "training": ("forward FLOPs", *TRAINING),
    "training, blocks recomputed": TRAINING,
    "training, blocks recomputed op by op": TRAINING,
    "decoding one token after 10": DECODING,
    "real data": ("finite", "a later token changes no earlier output", "one token at a time gives the same"),
}
LAYERS: dict[str, tuple[str, dict[str, Any]]] = {
    "Mamba": ("mamba", {"state": 3}),
    "Jamba's Mamba": ("mamba", {"state": 3, "norms": True}),
    "Mamba-2": ("mamba", {"kind": "mamba2", "heads": 4, "groups": 2, "state": 3, "chunk": 4}),
    "Nemotron-H's Mamba-2": ("mamba", {"kind": "mamba2", "heads": 4, "groups": 2, "norm_groups": 2, "state": 3}),
    "gated delta net": ("delta", {"heads": 2, "v_heads": 4, "head_dim": 3, "v_dim": 5, "chunk": 4}),
    "Kimi's delta net": ("delta", {"kind": "kda", "heads": 2, "head_dim": 3, "chunk": 4}),
    "RG-LRU": ("rglru", {"width": 12, "heads": 3}),
    "lightning attention": ("lightning", {"heads": 2, "head_dim": 3, "chunk": 4}),
}


@pytest.mark.wide(2)
@pytest.mark.parametrize("layer", LAYERS)
def test_every_row_is_compared(layer: str) -> None:
    """Three chunks, the last one not full; no row is left out because a loop would keep more than a kernel does."""
    part, fields = LAYERS[layer]
    stack = {"blocks": 2, "pattern": [part]}
    model = archcalc.load({"vocab": 9, "d_model": 8, "norm": "rms", "decoder": stack, part: fields})
    report = verify(model, model.workload(batch=2, seq=11))
    assert report.ok, report.answer()
    found: dict[str, list[str]] = {}
    for row in report.rows:
        found.setdefault(row.group, []).append(row.quantity)
    assert {group: tuple(rows) for group, rows in found.items()} == ROWS
