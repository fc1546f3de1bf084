"""Rotary position encodings as libraries write them."""

from __future__ import annotations

from typing import Any

from archcalc.core.ir import Dim, Module, Op, Tensor
from archcalc.styles.steps import WIDE, cast_back, see, widened


def rotate_half(m: Module, x: Tensor, cos: Tensor, sin: Tensor, **said: Any) -> Tensor:
    """x · cos + rotate_half(x) · sin. Source: transformers, apply_rotary_pos_emb of Llama."""
    part, rest = _divided(m, x, cos)
    turned = _turned(m, part, cos, sin)
    return m.record("concat", turned, *rest, to=x.axes) if rest else turned


def rotate_part(m: Module, x: Tensor, cos: Tensor, sin: Tensor, **said: Any) -> Tensor:
    """The same, joined with what is not rotated also where that is nothing, so that heads lie behind each other.
    Source: transformers, apply_rotary_pos_emb of GPT-NeoX and Phi-3."""
    part, rest = _divided(m, x, cos, always=True)
    return m.record("concat", _turned(m, part, cos, sin), *rest, to=x.axes)


def in_fp32(m: Module, x: Tensor, cos: Tensor, sin: Tensor, **said: Any) -> Tensor:
    """On an fp32 copy, cast back. Source: transformers, apply_rotary_pos_emb of Cohere; torchtitan since 2026,
    CosSinRoPE."""
    part, rest = _divided(m, x, cos)
    turned = cast_back(m, _turned(m, widened(m, part), cos, sin), part)
    return m.record("concat", turned, *rest, to=x.axes) if rest else turned


def by_fp32_tables(m: Module, x: Tensor, cos: Tensor, sin: Tensor, **said: Any) -> Tensor:
    """By tables that are fp32 themselves, cast back. Source: transformers, apply_rotary_pos_emb of OLMo."""
    part, rest = _divided(m, x, cos)
    turned = cast_back(m, _turned(m, part, cos, sin, WIDE if m.style.narrow else part.role), part)
    return m.record("concat", turned, *rest, to=x.axes) if rest else turned


def in_halves(m: Module, x: Tensor, cos: Tensor, sin: Tensor, **said: Any) -> Tensor:
    """Both halves apart, then joined. Source: transformers, apply_rotary_pos_emb_interleave of DeepSeek-V3."""
    part, rest = _divided(m, x, cos)
    first, second = _halves(m, part)
    cos, sin = (table.seen_as(*table.dims[:-1], first.dims[-1]) for table in (cos, sin))
    real = m.record("subtract", m.record("multiply", first, cos), m.record("multiply", second, sin))
    other = m.record("add", m.record("multiply", second, cos), m.record("multiply", first, sin))
    turned = m.record("concat", real, other, to=part.axes)
    return m.record("concat", turned, *rest, to=x.axes) if rest else turned


def as_complex(m: Module, x: Tensor, cos: Tensor, sin: Tensor, **said: Any) -> Tensor:
    """Pairs of fp32 numbers, times a table of complex ones. Source: torchtitan, apply_rotary_emb; transformers,
    apply_rotary_emb of Llama 4."""
    part, rest = _divided(m, x, cos)
    turned = cast_back(m, m.record("multiply", widened(m, part), cos, sin), part)
    return m.record("concat", turned, *rest, to=x.axes) if rest else turned


def as_pairs(m: Module, x: Tensor, cos: Tensor, sin: Tensor, **said: Any) -> Tensor:
    """Even and odd numbers apart, in fp32. Source: torchtune, RotaryPositionalEmbeddings.forward."""
    even, odd = _halves(m, widened(m, x))
    table = cos.seen_as(*cos.dims[:-1], even.dims[-1])
    products = [m.record("multiply", part, table) for part in (even, odd, odd, even)]
    found = m.record("subtract", *products[:2]), m.record("add", *products[2:])
    return cast_back(m, m.record("concat", *found, to=x.axes), x)


def joined(m: Module, x: Tensor, cos: Tensor, sin: Tensor, **said: Any) -> Tensor:
    """Source: litgpt, apply_rope and CausalSelfAttention.forward: torch.cat copies even where all is rotated."""
    *rows, width = x.dims
    part = see(m, "slice", x, *rows, cos.dims[-1])
    first, second = _halves(m, part)
    turned = m.record("concat", m.record("negate", second), first, to=part.axes)
    wide = WIDE if m.style.narrow else x.role
    found = m.record("add", m.record("multiply", part, cos, role=wide), m.record("multiply", turned, sin, role=wide))
    return m.record("concat", cast_back(m, found, x), *_rest(m, x, rows, width, cos), to=x.axes)


def _divided(m: Module, x: Tensor, cos: Tensor, *, always: bool = False) -> tuple[Tensor, list[Tensor]]:
    """The first numbers of each head, which are rotated, and the others if there are some."""
    *rows, width = x.dims
    if cos.dims[-1].size == width.size and not always:
        return x, []
    return see(m, "slice", x, *rows, cos.dims[-1]), _rest(m, x, rows, width, cos)


def _rest(m: Module, x: Tensor, rows: list[Dim], width: Dim, cos: Tensor) -> list[Tensor]:
    """What is not rotated of each head."""
    number = int(width.size) - int(cos.dims[-1].size)
    return [see(m, "slice", x, *rows, Dim.of("not_rotated", number))] if number else []


def _turned(m: Module, x: Tensor, cos: Tensor, sin: Tensor, role: str = "") -> Tensor:
    """The other factor is the second half of each head, negated, before the first."""
    along = m.record("multiply", x, cos, role=role)
    first, second = _halves(m, x)
    half_turned = m.record("concat", m.record("negate", second), first, to=x.axes)
    return m.record("add", along, m.record("multiply", half_turned, sin, role=role))


def _halves(m: Module, x: Tensor) -> list[Tensor]:
    *rows, width = x.dims
    half = Dim.of("half", int(width.size) // 2)
    return [m.add(Op("slice", (x,), x.seen_as(*rows, half))) for _ in range(2)]
