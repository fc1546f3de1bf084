"""Rotary positions on the first numbers of each head, of queries and keys together.

Source: transformers, apply_rotary_pos_emb of GPT-NeoX, Phi and StableLM.
"""

from __future__ import annotations

from archcalc.core.ir import Dim, Module, Op, Tensor
from archcalc.run.code.rotary import rotated
from archcalc.run.code.writing import Lines


def rotate_parts(attention: Module, *, narrow: bool) -> list[Tensor]:
    """All four parts are seen first; queries and keys are rotated, then joined with what is left as it is. Gives the
    rotated parts."""
    rotations = [op for op in attention.ops if op.traits.position_tables]
    lines = Lines(narrow=narrow)
    parts = [_parts(lines, op) for op in rotations]
    turned = [rotated(lines, part, *op.inputs[1:]) for op, (part, _) in zip(rotations, parts, strict=True)]
    for op, first, (_, rest) in zip(rotations, turned, parts, strict=True):
        lines.do("concat", first, rest, into=op.output)
    place = attention.body.index(rotations[0])
    attention.body[:] = [item for item in attention.body if item not in rotations]
    attention.body[place:place] = lines.scope()
    return turned


def _parts(lines: Lines, op: Op) -> tuple[Tensor, Tensor]:
    x, cos, _ = op.inputs
    *rows, width = x.dims
    part = cos.dims[-1]
    rest = Dim.of("as_it_is", int(width.size) - int(part.size))
    return lines.see("slice", x, *rows, part), lines.see("slice", x, *rows, rest)
