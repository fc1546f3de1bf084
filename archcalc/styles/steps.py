"""Steps that libraries' functions share: copies in another number format, parts of a tensor."""

from __future__ import annotations

from archcalc.core.ir import Axis, Dim, Module, Op, Tensor

WIDE = "stat"  # the role of tensors in fp32


def widened(m: Module, x: Tensor) -> Tensor:
    """An fp32 copy; the same tensor if it is fp32 already."""
    return m.record("cast", x, role=WIDE) if m.style.narrow and x.role != WIDE else x


def cast_back(m: Module, x: Tensor, like: Tensor) -> Tensor:
    """A copy in the number format of another tensor, which autocast may have made fp32."""
    if not m.style.narrow or x.role == like.role:
        return x
    return m.record("cast_back", x, like.detached(), role=like.role)


def see(m: Module, kind: str, x: Tensor, *items: Dim | Axis) -> Tensor:
    """A part of a tensor, or all of it along other axes, with a gradient of its own."""
    return m.add(Op(kind, (x,), x.seen_as(*items)))
