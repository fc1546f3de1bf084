"""Which axis of a parameter is which, read from the products that use it: `out × in`, `in × out`, `rows × width`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.ir import Axis, Module, Op, Param, Tensor
from archcalc.core.roles import Role
from archcalc.core.tree import ops_in

if TYPE_CHECKING:
    from collections.abc import Iterable

CONVOLUTION = "out × in per group × kernel"
IN_FIRST = "in × out"
AS_STORED = "matrices as PyTorch stores them, out × in: y = x·Wᵀ + b. Written on paper as y = x·W + b, W is in × out"
AS_WRITTEN = "; those marked in × out are stored as written on paper, as Keras does"


def orientations(root: Module) -> dict[Tensor, str]:
    """The axes of every parameter that a product or a look-up reads, in words."""
    used = ((op, tensor) for op in ops_in(root) for tensor in op.inputs if isinstance(tensor, Param))
    found = {param: _words(op, param) for op, param in reversed(list(used)) if len(param.axes) > 1}
    return {param: words for param, words in found.items() if words}


def orientation_note(found: Iterable[str]) -> Assumption:
    """One sentence for all of them."""
    return Assumption(Topic.TABLE, AS_STORED + (AS_WRITTEN if IN_FIRST in found else ""))


def _words(op: Op, param: Param) -> str:
    if param.weight_role is Role.CONVOLUTION:
        return CONVOLUTION
    if op.traits.contraction:
        return " × ".join(_axis(op, param, axis) for axis in param.axes)
    if op.select and len(param.axes) == 2:
        return "rows × width"
    return ""


def _axis(op: Op, param: Param, axis: Axis) -> str:
    """What is summed away comes in, what only the weight has goes out; anything else has its own name."""
    summed = [each for each in param.axes if {*each} <= {*op.over}]
    if axis in summed:
        return "in" if axis == summed[0] else _name(axis)
    others = {dim for tensor in op.inputs if tensor is not param for dim in tensor.dims}
    return _name(axis) if {*axis} & {*others, *op.select} else "out"


def _name(axis: Axis) -> str:
    return "·".join(dim.name for dim in axis)
