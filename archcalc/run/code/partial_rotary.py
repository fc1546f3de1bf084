"""Rotary positions on the first numbers of each head, of queries and keys together.

Source: transformers, apply_rotary_pos_emb of GPT-NeoX, Phi and StableLM.
"""

from __future__ import annotations

from archcalc.core.ir import Dim, Module, Op, Tensor
from archcalc.run.code.rotary import rotated
from archcalc.run.code.writing import Lines


def is_partial(op: Op) -> bool:
    """Whether it leaves some numbers of each head as they are."""
    return int(op.inputs[1].dims[-1].size) < int(op.inputs[0].dims[-1].size)


def rotate_parts(attention: Module, *, narrow: bool) -> list[Tensor]:
    """All parts are seen first; queries and keys are rotated, then joined with what is left as it is. Gives the rotated
    parts."""
    rotations = [op for op in attention.ops if op.traits.position_tables]
    partial = [op for op in rotations if is_partial(op)]
    lines = Lines(narrow=narrow)
    parts = [_parts(lines, op) for op in partial]
    turned = [rotated(lines, part, *op.inputs[1:]) for op, (part, _) in zip(partial, parts, strict=True)]
    for op, first, (_, rest) in zip(partial, turned, parts, strict=True):
        lines.do("concat", first, rest, into=op.output)
    place = attention.body.index(rotations[-1])
    whole = [rotations[-1]] if rotations[-1] not in partial else []
    attention.body[place : place + 1] = [*lines.scope(), *whole]
    attention.body[:] = [item for item in attention.body if item not in partial]
    return turned


def _parts(lines: Lines, op: Op) -> tuple[Tensor, Tensor]:
    x, cos, _ = op.inputs
    *rows, width = x.dims
    part = cos.dims[-1]
    rest = Dim.of("as_it_is", int(width.size) - int(part.size))
    return lines.see("slice", x, *rows, part), lines.see("slice", x, *rows, rest)
