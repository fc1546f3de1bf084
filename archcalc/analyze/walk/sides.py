"""What a tensor looks like when it is drawn: a face of rows and columns, its depth, and how many there are."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from archcalc.core.count import product
from archcalc.core.ir import Axis, Dim, Op, Param, Role, Tensor

FEW = 32  # parts of a side that are still told apart


@dataclass(frozen=True)
class Side:
    """A side of a box: how long, of which dims, and into how many equal parts it is divided (heads)."""

    size: int = 1
    name: str = ""
    parts: int = 1
    is_copies: bool = False  # it counts equal things side by side, such as heads

    @classmethod
    def of(cls, dims: Sequence[Dim]) -> Side:
        first = [dim for dim in dims[:1] if dim.copies and len(dims) > 1 and dim.size <= FEW]
        size = int(product(dim.size for dim in dims))
        parts = int(first[0].size) if first else 1
        return cls(size, "·".join(dim.name for dim in dims), parts, bool(dims) and all(dim.copies for dim in dims))


@dataclass(frozen=True)
class Box:
    """Its sides, of one example."""

    rows: Side = Side()
    columns: Side = Side()
    depth: Side = Side()
    copies: Side = Side()


def box(tensor: Tensor, batch: Collection[Dim]) -> Box:
    """The last two axes are the face, the one before them the depth: heads, channels; whatever is left are copies."""
    axes = [kept for axis in tensor.axes if (kept := tuple(dim for dim in axis if dim not in batch))]
    padded: list[Axis] = [(), (), (), *axes]
    *others, depth, rows, columns = padded
    if rows and isinstance(tensor, Param) and tensor.weight_role.is_table:  # on its side, as where it gives the scores
        rows, columns = columns, rows
    left = [dim for axis in others for dim in axis]
    return Box(Side.of(rows), Side.of(columns), Side.of(depth), Side.of(left))


def factors(op: Op, batch: Collection[Dim]) -> tuple[Box, Box, Box] | None:
    """Both factors of a matrix product and the result, laid out so that the sides that meet are as long: the columns of
    the first are the rows of the second. None where it is no such product, or moves a window over a map."""
    if not op.traits.contraction or len(op.inputs) != 2 or not op.over or is_moved(op):
        return None
    first, second = op.inputs
    if isinstance(first.storage, Param):
        first, second = second, first
    shared = [dim for dim in second.dims if dim in first.dims and dim not in op.over and dim not in batch]
    apart = (*shared, *op.over, *batch)
    rows, columns = ([dim for dim in each.dims if dim not in apart] for each in (first, second))
    experts = [dim for dim in columns if dim not in op.output.dims]  # chosen among, neither summed nor given out
    columns = [dim for dim in columns if dim in op.output.dims]
    over, row, column, depth = (Side.of(each) for each in (op.over, rows, columns, shared))
    deep = Side.of(experts) if experts else depth
    return Box(row, over, depth), Box(over, column, deep), Box(row, column, depth)


def is_moved(op: Op) -> bool:
    """A convolution's weights move over a map; over patches that are cut out already they are a matrix."""
    weights = (each.storage for each in op.inputs)
    is_window = any(isinstance(each, Param) and each.weight_role is Role.CONVOLUTION for each in weights)
    return is_window and not any(len(axis) > 1 and {*axis} == {*op.over} for axis in op.inputs[0].axes[-1:])


def batch_of(ops: Sequence[Op]) -> frozenset[Dim]:
    """The axis along which examples stand side by side: the first of whatever enters a model."""
    entering: list[Axis] = [op.output.axes[0] for op in ops if op.traits.enters and op.output.axes]
    return frozenset(dim for axis in entering for dim in axis)
