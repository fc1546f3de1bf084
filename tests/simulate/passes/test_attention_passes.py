"""What passes add to attention in one kernel: keys of other GPUs, and what the kernel computes in."""

from __future__ import annotations

from functools import partial

from archcalc.core.execution import by_spec
from archcalc.core.ir import Dim, Module, axes
from archcalc.core.mesh import Plan
from archcalc.core.precision import Policy
from archcalc.layers.linear import linear
from archcalc.simulate.build import TensorBytes, schedule
from archcalc.simulate.passes.workspaces import KIB, gather_keys, kernel_workspaces
from archcalc.simulate.schedule import Pass, Schedule

BATCH, HEADS, GROUPS, SEQ, WIDTH = 2, 4, 2, 100, 24
BF16, FP32 = 2, 4


def attending(*passes: Pass) -> Schedule:
    """Queries of four heads over keys and values of two, in bf16."""
    root = Module("model")
    batch, seq, past = (Dim.of(name, size) for name, size in (("batch", BATCH), ("seq", SEQ), ("kv_seq", SEQ)))
    heads, groups, width = Dim.of("heads", HEADS), Dim.of("kv_heads", GROUPS), Dim.of("head", WIDTH)
    x = root.record("input", to=axes(batch, heads, seq, Dim.of("channels", 8)))
    of_keys = root.record("input", to=axes(batch, groups, past, Dim.of("channels", 8)))
    q = linear(root["q"], x, width, bias=False)
    k, v = (linear(root[name], of_keys, width, bias=False) for name in ("k", "v"))
    root.record("flash", q, k, v)
    policy = Policy("bf16")
    return schedule(root, policy, by_spec, TensorBytes(Plan(), policy), passes)


def test_keys_and_values_of_all_gpus_are_gathered() -> None:
    found = attending(partial(gather_keys, gpus=4)).steps()
    assert [one.gathered_keys for one in found] == [0, 0, 0, 4 * 2 * BATCH * GROUPS * SEQ * WIDTH * BF16]


def test_flash_attention_goes_back_in_fp32_over_rounded_rows_and_widths() -> None:
    """Positions up to a multiple of 128, widths to one of 32; gradients of keys and values for every head."""
    found, before = (
        attending(partial(kernel_workspaces, plan=Plan(), width=BF16)),
        attending().steps()[-1].gradient_scratch,
    )
    rows = BATCH * HEADS * 128
    every = BATCH * HEADS * SEQ * WIDTH * BF16
    assert found.steps()[-1].gradient_scratch == [*before, rows * 32 * FP32, rows * FP32, every, every]
    assert found.workspace == (2 * 4096 + 8 * 16) * KIB
