"""Rotary position encodings as libraries write them."""

from __future__ import annotations

from archcalc.core.ir import Dim, Op, Tensor, axes
from archcalc.run.code.writing import WIDE, Lines


def rotate_half(op: Op, *, narrow: bool) -> list[Op]:
    """Source: transformers, apply_rotary_pos_emb."""
    x, cos, sin = op.inputs
    lines = Lines(narrow=narrow)
    turned = rotated(lines, _part(x, cos), cos, sin)
    if turned.shape != x.shape:
        lines.do("concat", turned, x, to=x.axes)
    return lines.returned(op)


def in_fp32(op: Op, *, narrow: bool) -> list[Op]:
    """Source: torchtitan since 2026, CosSinRoPE."""
    x, cos, sin = op.inputs
    lines = Lines(narrow=narrow)
    lines.cast(rotated(lines, lines.cast(x, WIDE), cos, sin), x.role)
    return lines.returned(op)


def as_pairs(op: Op, *, narrow: bool) -> list[Op]:
    """Source: torchtune, RotaryPositionalEmbeddings.forward."""
    x, cos, _ = op.inputs
    lines = Lines(narrow=narrow)
    wide = lines.cast(x, WIDE)
    *rows, width = x.dims
    half = Dim.of("half", int(width.size) // 2)
    even, odd = (lines.see("slice", wide, *rows, half) for _ in range(2))
    table = Tensor(axes(*cos.dims[:-1], half), WIDE)
    turned = [lines.do("multiply", part, table) for part in (even, odd, odd, even)]
    found = [lines.do("subtract", *turned[:2]), lines.do("add", *turned[2:])]
    lines.cast(lines.do("concat", *found, to=x.axes), x.role)
    return lines.returned(op)


def joined(op: Op, *, narrow: bool) -> list[Op]:
    """Source: litgpt, apply_rope and CausalSelfAttention.forward: torch.cat copies even where all is rotated."""
    x, cos, sin = op.inputs
    lines = Lines(narrow=narrow)
    *rows, width = x.dims
    seen = lines.see("slice", x, *rows, cos.dims[-1])
    turned = _half_turned(lines, seen)
    along = lines.do("multiply", seen, cos, role=WIDE)
    rotated = lines.cast(lines.do("add", along, lines.do("multiply", turned, sin, role=WIDE)), x.role)
    rest = int(width.size) - int(cos.dims[-1].size)
    others = [lines.see("slice", x, *rows, Dim.of("rest", rest))] if rest else []
    lines.do("concat", rotated, *others, to=x.axes)
    return lines.returned(op)


def as_complex(op: Op, *, narrow: bool) -> list[Op]:
    """Source: torchtitan, apply_rotary_emb: pairs of fp32 numbers, times a table of complex ones."""
    x, *table = op.inputs
    lines = Lines(narrow=narrow)
    lines.cast(lines.do("multiply", lines.cast(x, WIDE), *table), x.role)
    return lines.returned(op)


def rotated(lines: Lines, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """x · cos + rotate_half(x) · sin."""
    along = lines.do("multiply", x, cos)
    across = lines.do("multiply", _half_turned(lines, x), sin)
    return lines.do("add", along, across)


def _half_turned(lines: Lines, x: Tensor) -> Tensor:
    """The second half of each head, negated, before the first."""
    *rows, width = x.dims
    half = Dim.of("half", int(width.size) // 2)
    first, second = lines.see("slice", x, *rows, half), lines.see("slice", x, *rows, half)
    return lines.do("concat", lines.do("negate", second), first, to=x.axes)


def _part(x: Tensor, cos: Tensor) -> Tensor:
    """The first numbers of each head, if only these are rotated."""
    *rows, width = x.dims
    rotated = cos.dims[-1]
    if int(rotated.size) == int(width.size):
        return x
    return x.seen_as(*axes(*rows, rotated))
