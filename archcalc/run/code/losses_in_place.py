"""Losses over a vocabulary that overwrite what they read."""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.ir import Op
from archcalc.run.code.writing import WIDE, Lines


def in_place(op: Op, *, narrow: bool) -> list[Op]:
    """Source: Transformer Engine, pytorch/cross_entropy.py, whose kernel writes the gradient over the logits."""
    return [replace(op, kind="cross_entropy_in_place", beside={})]


def in_place_fp32(op: Op, *, narrow: bool) -> list[Op]:
    """Source: Megatron-LM, megatron/core/tensor_parallel/cross_entropy.py: an fp32 copy of the logits becomes the
    probabilities, and these the gradient."""
    logits, *targets = op.inputs
    lines = Lines(narrow=narrow)
    wide = lines.cast(logits, WIDE)
    return [*lines.ops, replace(op, kind="cross_entropy_in_place", inputs=(wide, *targets), beside={})]
