"""The linear layer: a contraction over the input's last axis, plus a bias."""

from __future__ import annotations

from archcalc.core.ir import Axis, Count, Dim, Module, Param, Tensor
from archcalc.styles.linear import each_by_itself, linear, width_of

__all__ = ["contract", "each_by_itself", "linear", "one_each", "width_of"]


def contract(m: Module, x: Tensor, weight: Param, *, out: Axis) -> Tensor:
    return m.record("contract", x, weight, to=(*x.axes[:-1], out), over=x.axes[-1])


def one_each(m: Module, name: str, dim: Dim) -> Param:
    """A learned vector with one number per head, shown as one vector rather than copies of a number."""
    return m.param(name, dim, elements=Count.named(dim.name, dim.size))
