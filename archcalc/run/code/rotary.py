"""Rotary position encodings as libraries write them."""

from __future__ import annotations

from collections.abc import Callable

from archcalc.core.ir import Dim, Op, Tensor, axes
from archcalc.run.code.writing import WIDE, Lines

Turn = Callable[[Lines, Tensor, Tensor, Tensor], Tensor]  # of what is rotated, cosines and sines


def rotated(lines: Lines, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """x · cos + rotate_half(x) · sin. Source: transformers, apply_rotary_pos_emb of Llama."""
    along = lines.do("multiply", x, cos)
    across = lines.do("multiply", _half_turned(lines, x), sin)
    return lines.do("add", along, across)


def rotated_in_fp32(lines: Lines, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """On an fp32 copy, cast back. Source: transformers, apply_rotary_pos_emb of Cohere; torchtitan since 2026,
    CosSinRoPE."""
    return lines.cast(rotated(lines, lines.cast(x, WIDE), cos, sin), x.role)


def rotated_by_fp32(lines: Lines, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """By tables that are fp32 themselves, cast back. Source: transformers, apply_rotary_pos_emb of OLMo."""
    wide = WIDE if lines.narrow else x.role
    along = lines.do("multiply", x, cos, role=wide)
    across = lines.do("multiply", _half_turned(lines, x), sin, role=wide)
    return lines.cast(lines.do("add", along, across), x.role)


def rotated_in_halves(lines: Lines, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Both halves apart, then joined. Source: transformers, apply_rotary_pos_emb_interleave of DeepSeek-V3."""
    *rows, width = x.dims
    half = Dim.of("half", int(width.size) // 2)
    first, second = (lines.see("slice", x, *rows, half) for _ in range(2))
    cos, sin = (table.seen_as(*table.dims[:-1], half) for table in (cos, sin))
    turned = lines.do("subtract", lines.do("multiply", first, cos), lines.do("multiply", second, sin))
    other = lines.do("add", lines.do("multiply", second, cos), lines.do("multiply", first, sin))
    return lines.do("concat", turned, other, to=x.axes)


def rotated_as_complex(lines: Lines, x: Tensor, *tables: Tensor) -> Tensor:
    """Pairs of fp32 numbers, times a table of complex ones. Source: torchtitan, apply_rotary_emb; transformers,
    apply_rotary_emb of Llama 4."""
    return lines.cast(lines.do("multiply", lines.cast(x, WIDE), *tables), x.role)


TURNS: dict[str, Turn] = {  # the habit `rotary`
    "rotate_half": rotated,
    "fp32": rotated_in_fp32,
    "fp32_tables": rotated_by_fp32,
    "halves": rotated_in_halves,
    "complex": rotated_as_complex,
}


def lowered_by(turn: Turn) -> Callable[..., list[Op]]:
    """The first numbers of each head rotated, and joined with the others if there are some."""

    def lower(op: Op, *, narrow: bool) -> list[Op]:
        x, cos, sin = op.inputs
        lines = Lines(narrow=narrow)
        turned = turn(lines, _part(x, cos), cos, sin)
        if turned.shape != x.shape:
            lines.do("concat", turned, x, to=x.axes)
        return lines.returned(op)

    return lower


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
    whole = lines.cast(lines.do("add", along, lines.do("multiply", turned, sin, role=WIDE)), x.role)
    rest = int(width.size) - int(cos.dims[-1].size)
    others = [lines.see("slice", x, *rows, Dim.of("rest", rest))] if rest else []
    lines.do("concat", whole, *others, to=x.axes)
    return lines.returned(op)


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
