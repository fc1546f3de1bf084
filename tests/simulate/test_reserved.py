"""What the allocator reserves over two training steps, against the step itself and against PyTorch's logs."""

from __future__ import annotations

from typing import Any

import pytest

from archcalc import load
from archcalc.core.ir import Module
from archcalc.simulate.reserved import reserved

GIB = 2**30
SETTINGS: list[dict[str, Any]] = [
    {},
    {"recompute": "full"},
    {"recompute": "ops", "precision": "bf16"},
    {"lora": 8, "weights": "nf4"},
    {"dp": 8, "zero": 3},
    {"dp": 8, "zero": 2},
    {"dp": 4, "zero": 3, "reshard_after_forward": "never"},
    {"accumulate": 4},
    {"compile": "all", "precision": "bf16"},
    {"code": "torchtitan@2024-12", "dp": 8, "zero": 3, "precision": "mixed"},
    {"code": "torchtitan", "dp": 8, "zero": 3, "precision": "mixed"},
    {"code": "torchtitan@2024-03", "precision": "bf16"},
]


@pytest.mark.wide(6)
@pytest.mark.parametrize("name", ["tinyllama-1.1b", "t5-small", "textbook", "mixtral-8x7b"])
@pytest.mark.parametrize("options", SETTINGS, ids=str)
def test_the_unrolled_step_peaks_where_the_step_with_loops_does(name: str, options: dict[str, Any]) -> None:
    """Repeated = unrolled: tensors take the same, and the allocator only adds to it."""
    if "lora" in options and name in ("t5-small", "textbook"):
        options = {**options, "lora_targets": "all"}
    report = load(name).memory(mode="train", batch=2, overhead=0, **options, **_lengths(name))
    assert report.device
    found = report.device.value
    assert found.tensors == report.total_bytes
    assert found.tensors <= found.allocated <= found.reserved
    assert found.reserved - found.allocated == sum(found.unused.values())


def _lengths(name: str) -> dict[str, Any]:
    return {"src_seq": 128, "tgt_seq": 128} if name in ("t5-small", "textbook") else {"seq": 128}


def test_the_rows_add_up_to_what_a_device_must_have() -> None:
    report = load("tinyllama-1.1b").memory(mode="train", seq=512, dp=4, zero=3)
    sizes = [line.cells[1] for line in report.table().lines]
    assert sum(sizes) == report.required_bytes == report.reserved_bytes + report.parts["overhead"]


def test_gpus_that_shard_need_two_more_streams() -> None:
    """Gathered weights and sharded gradients cannot take what the compute stream left free."""
    plans: tuple[dict[str, Any], ...] = ({}, {"dp": 4, "zero": 3})
    whole, sharded = (load("tinyllama-1.1b").memory(mode="train", seq=512, **plan) for plan in plans)
    assert whole.device and sharded.device
    assert [stream.name for stream in whole.device.value.unused] == ["COMPUTE"]
    assert len(sharded.device.value.unused) == 3


def test_torchtitan_s_log_of_llama_3_8b() -> None:
    """8 H100, batch 1, 8,192 tokens, selective checkpointing: 42.08 GiB in step 1, 49.59 GiB from step 2 on, and
    62.18 GiB if blocks are never resharded (github.com/pytorch/torchtitan, pull request 822)."""
    asked: dict[str, Any] = {"mode": "train", "batch": 1, "seq": 8192, "dp": 8, "zero": 3, "recompute": "ops"}
    asked |= {"precision": "mixed", "code": "torchtitan@2025-01", "overhead": 0}
    model = load("llama-3-8b")
    report, never = model.memory(**asked), model.memory(**asked, reshard_after_forward="never")
    assert report.device
    assert report.device.value.first_step / GIB == pytest.approx(42.08, rel=0.02)
    assert report.reserved_bytes / GIB == pytest.approx(49.59, rel=0.02)
    assert never.reserved_bytes / GIB == pytest.approx(62.18, rel=0.02)


def test_a_step_with_loops_is_refused() -> None:
    """Of a loop it is not known which storage is freed."""
    from archcalc.simulate.events import Block, Change, Repeated

    change = Change("activations", 512, "forward", Module("model"), Block("activations", 512))
    with pytest.raises(ValueError, match="unrolled"):
        reserved([], [], [Repeated([change], 2)], expandable=False)


def test_a_step_of_very_many_ops_counts_tensors_alone() -> None:
    """A recurrent net of 10,000 steps; the answer says so."""
    report = load("sentiment-lstm").memory(mode="train", batch=1, seq=20_000)
    assert report.device is None
    assert report.required_bytes == report.total_bytes
    assert any("not simulated" in one.text for one in report.assumptions)
