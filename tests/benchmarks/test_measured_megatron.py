"""SimuMax's measured cases as models and options."""

from __future__ import annotations

from typing import Any

import pytest
from measured_megatron import is_megatron, measured_bytes, megatron
from measured_units import Inexpressible

CASE: dict[str, Any] = {  # simumax-001: github.com/MooreThreads/SimuMax 4dcaae5 docs/b200
    "id": "simumax-001",
    "model": "llama-3-70b-12l",
    "arch": {
        "layers": 12,
        "hidden": 8192,
        "heads": 64,
        "kv_heads": 8,
        "ffn": 28672,
        "vocab": 128256,
        "tie": False,
        "norm": "rms",
        "bias": False,
        "act": "silu",
        "gated": True,
    },
    "parallelism": {"tp": 2, "pp": 1, "cp": 1, "ep": 1, "dp": 4, "sp": True, "zero": 1},
    "micro_batch": 1,
    "grad_accum": 4,
    "seq": 4096,
    "recompute": "none",
    "engine": "Megatron-LM (SimuMax 1.2 validation, TE 2.11)",
    "note": "the model cut to a few layers",
    "measured": {"peak_allocated_gib": 60.68},
}
LAYER = 8192 * (64 + 2 * 8) * 128 + 8192 * 8192 + 3 * 8192 * 28672 + 2 * 8192


def test_a_case_with_shapes() -> None:
    model, options = megatron(CASE)
    assert int(model.params().total) == 12 * LAYER + 2 * 128256 * 8192 + 8192
    plan = {"tp": 2, "sp": True, "dp": 4, "cp": 1, "pp": 1, "ep": 1, "zero": 1}
    assert options | plan | {"code": "megatron", "batch": 1, "seq": 4096, "accumulate": 4} == options


def test_is_within_the_last_digit_or_two() -> None:
    model, options = megatron(CASE)
    assert model.memory(**options).allocated_bytes == pytest.approx(measured_bytes(CASE), rel=0.001)


def test_a_published_model_with_fewer_layers() -> None:
    """DeepSeek-V2 with one dense layer and three of experts."""
    cut = {**CASE, "model": "deepseek-v2-4l", "arch": None, "note": "the model cut to a few layers; first layer dense"}
    cut["parallelism"] = {**CASE["parallelism"], "tp": 1, "sp": False, "ep": 8, "dp": 8}
    model, options = megatron(cut)
    report = model.memory(**options)
    assert "sp" not in options
    assert report.allocated_bytes / 2**30 == pytest.approx(45.63, rel=0.001)  # simumax-004


def test_other_engines_and_figures_are_none_of_these() -> None:
    assert is_megatron(CASE)
    assert not is_megatron({**CASE, "engine": "torchtitan"})
    assert not is_megatron({**CASE, "measured": {"step_s": 0.7}})


def test_a_model_without_shapes_is_told() -> None:
    with pytest.raises(Inexpressible):
        megatron({**CASE, "model": "a-model", "arch": None})
