"""Rotary position encodings as libraries write them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from archcalc.core.ir import Dim, Module, Op, Tensor
from archcalc.styles.steps import WIDE, cast_back, see, widened

Turn = Callable[[Module, Tensor, Tensor, Tensor], Tensor]  # what is rotated, by cosines and sines


def _rotated(
    m: Module, x: Tensor, cos: Tensor, sin: Tensor, *, turn: Turn, wide: bool = False, always: bool = False, **said: Any
) -> Tensor:
    """The first numbers of each head, turned, on an fp32 copy if `wide`, and joined with the others if there are some,
    or always."""
    *rows, width = x.dims
    left = int(width.size) - int(cos.dims[-1].size)
    part = see(m, "slice", x, *rows, cos.dims[-1]) if left or always else x
    rest = [see(m, "slice", x, *rows, Dim.of("not_rotated", left))] if left else []
    turned = cast_back(m, turn(m, widened(m, part) if wide else part, cos, sin), part)
    return m.record("concat", turned, *rest, to=x.axes) if rest or always else turned


def _turned(m: Module, x: Tensor, cos: Tensor, sin: Tensor, role: str = "") -> Tensor:
    """x · cos + rotate_half(x) · sin: the other factor is the second half of each head, negated, before the first."""
    along = m.record("multiply", x, cos, role=role)
    first, second = _halves(m, x)
    half_turned = m.record("concat", m.record("negate", second), first, to=x.axes)
    return m.record("add", along, m.record("multiply", half_turned, sin, role=role))


def _by_wide_tables(m: Module, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """By tables that are fp32 themselves."""
    return _turned(m, x, cos, sin, WIDE if m.style.narrow else x.role)


def _by_halves(m: Module, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Both halves apart, then joined."""
    first, second = _halves(m, x)
    cos, sin = (table.seen_as(*table.dims[:-1], first.dims[-1]) for table in (cos, sin))
    real = m.record("subtract", m.record("multiply", first, cos), m.record("multiply", second, sin))
    other = m.record("add", m.record("multiply", second, cos), m.record("multiply", first, sin))
    return m.record("concat", real, other, to=x.axes)


def _complex(m: Module, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Pairs of fp32 numbers, times a table of complex ones."""
    return m.record("multiply", x, cos, sin)


rotate_half = partial(_rotated, turn=_turned)  # transformers, apply_rotary_pos_emb of Llama
# heads lie behind each other, also where all is rotated: transformers, apply_rotary_pos_emb of GPT-NeoX and Phi-3
rotate_part = partial(_rotated, turn=_turned, always=True)
in_fp32 = partial(_rotated, turn=_turned, wide=True)  # transformers, that of Cohere; torchtitan since 2026, CosSinRoPE
by_fp32_tables = partial(_rotated, turn=_by_wide_tables)  # transformers, that of OLMo
in_halves = partial(_rotated, turn=_by_halves)  # transformers, apply_rotary_pos_emb_interleave of DeepSeek-V3
as_complex = partial(_rotated, turn=_complex, wide=True)  # torchtitan, apply_rotary_emb; transformers, that of Llama 4


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
    back, left = cast_back(m, found, x), int(width.size) - int(cos.dims[-1].size)
    rest = [see(m, "slice", x, *rows, Dim.of("not_rotated", left))] if left else []
    return m.record("concat", back, *rest, to=x.axes)


def _halves(m: Module, x: Tensor) -> list[Tensor]:
    *rows, width = x.dims
    half = Dim.of("half", int(width.size) // 2)
    return [m.add(Op("slice", (x,), x.seen_as(*rows, half))) for _ in range(2)]
