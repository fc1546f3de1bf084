"""Rotary positions on the first numbers of each head, of queries and keys together.

Source: transformers, apply_rotary_pos_emb of GPT-NeoX, Phi and StableLM.
"""

from __future__ import annotations

from archcalc.core.ir import Dim, Module, Op, Tensor
from archcalc.run.code.rotary import Turn
from archcalc.run.code.writing import Lines


def is_partial(op: Op) -> bool:
    """Whether it leaves some numbers of each head as they are."""
    return int(op.inputs[1].dims[-1].size) < int(op.inputs[0].dims[-1].size)


def rotate_parts(attention: Module, turn: Turn, *, narrow: bool, every: bool) -> list[Tensor]:
    """All parts are seen first; queries and keys are rotated, then joined with what is left as it is, `every` one also
    where nothing is. Gives the rotated parts."""
    rotations = [op for op in attention.ops if op.traits.position_tables]
    divided = [op for op in rotations if every or is_partial(op)]
    lines = Lines(narrow=narrow)
    parts = [_parts(lines, op) for op in divided]
    turned = [turn(lines, part, *op.inputs[1:]) for op, (part, *_) in zip(divided, parts, strict=True)]
    for op, first, (_, *rest) in zip(divided, turned, parts, strict=True):
        lines.do("concat", first, *rest, into=op.output)
    place = attention.body.index(rotations[-1])
    whole = [op for op in rotations[-1:] if op not in divided]
    attention.body[place : place + 1] = [*lines.scope(), *whole]
    attention.body[:] = [item for item in attention.body if item not in divided]
    return turned


def _parts(lines: Lines, op: Op) -> list[Tensor]:
    """The rotated part, and the rest if there is one."""
    x, cos, _ = op.inputs
    *rows, width = x.dims
    part = cos.dims[-1]
    left = int(width.size) - int(part.size)
    rest = [lines.see("slice", x, *rows, Dim.of("as_it_is", left))] if left else []
    return [lines.see("slice", x, *rows, part), *rest]
