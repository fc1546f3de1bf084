"""The linear layer: a contraction over the input's last axis, plus a bias."""

from __future__ import annotations

from archcalc.core.count import Count, product
from archcalc.core.ir import Axis, Dim, Module, Param, Tensor
from archcalc.core.roles import Role


def linear(
    m: Module,
    x: Tensor,
    out: Dim | Axis,
    *,
    bias: bool = True,
    trainable: bool = True,
    role: Role = Role.LINEAR,
) -> Tensor:
    """y = x·W + b. It contracts the input's last axis; a merged axis, such as concatenated heads, as a whole."""
    into = x.axes[-1]
    axis = (out,) if isinstance(out, Dim) else out
    elements = width_of(into) * product([dim.size for dim in axis])
    weight = m.param("weight", axis, into, elements=elements, trainable=trainable, role=role)
    y = contract(m, x, weight, out=axis)
    return m.record("add", y, m.param("bias", axis, trainable=trainable, role=Role.BIAS)) if bias else y


def contract(m: Module, x: Tensor, weight: Param, *, out: Axis) -> Tensor:
    return m.record("contract", x, weight, to=(*x.axes[:-1], out), over=x.axes[-1])


def one_each(m: Module, name: str, dim: Dim) -> Param:
    """A learned vector with one number per head, shown as one vector rather than copies of a number."""
    return m.param(name, dim, elements=Count.named(dim.name, dim.size))


def width_of(axis: Axis) -> Count:
    """A merged axis as one number: 768, not 4 × 192."""
    if len(axis) == 1:
        return axis[0].size
    return Count.named("·".join(dim.name for dim in axis), product([dim.size for dim in axis]))
