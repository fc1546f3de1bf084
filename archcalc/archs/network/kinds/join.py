"""Branches that read the same input and are joined: `{add: [input, [...]]}`, `subtract`, `multiply`, `concat`.

A branch is a list of layers, which may begin with the name of an earlier one, that name alone, or `input` for what
comes in. Element by element, an axis of size 1 is spread over that of the others, as in PyTorch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, ClassVar

from pydantic import Field

from archcalc.archs.network.kinds.given import given_in, joined_with
from archcalc.archs.network.layer import (
    IDS,
    SEQUENCES,
    Along,
    Place,
    Sequence,
    Shape,
    Trace,
    axis_of,
    laid_out,
    parts,
)
from archcalc.archs.network.names import INPUT
from archcalc.archs.network.values import Layers
from archcalc.core.derived import Derived
from archcalc.core.errors import did_you_mean
from archcalc.core.ir import Dim, Module, Tensor, axes
from archcalc.core.windows import Ends
from archcalc.spec.node import Node, as_tuple, field, shown

WORDS = ("add", "subtract", "concat", "multiply")
READS = (SEQUENCES, IDS)
POSITIONS = "positions"


class JoinFields(Node):
    main: ClassVar[str] = "branches"
    branches: Layers = Field(
        examples=[["input", ["relu"]]],
        min_length=2,
        description="Lists of layers, which may begin with the name of an earlier one; `input`, or such a name alone.",
    )
    along: Along | None = field(
        None,
        "What is put side by side: channels, the positions of sequences, or the places along a side of maps.",
        example="positions",
        unset="channels; of sequences, features",
        words=dict.fromkeys(("add", "subtract", "multiply")),
    )
    crop: bool = field(False, "Cut larger maps to the smallest, around their centre.", example=True)


@dataclass(frozen=True)
class Branch:
    """One without layers is what comes in, or what an earlier layer gave."""

    name: str
    layers: Sequence

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        return self.layers.run(m[self.name] if self.layers.steps else m, x, trace)


@dataclass(frozen=True)
class Join:
    spec_kind: ClassVar[str] = "join"
    how: str
    branches: tuple[Branch, ...]
    sides: tuple[int, ...]  # of the joined map
    is_sequence: bool
    crop: bool
    axis: int  # along which they are concatenated: 0 are the channels

    @property
    def of_each_position(self) -> bool:
        return not self.axis

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        joined = [branch.run(m, x, trace) for branch in self.branches]
        if self.crop:
            joined = [self._cropped(m, each, trace) for each in joined]
        return join(m, self.how, joined, trace, self.axis)

    def _cropped(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        batch, channels, longer = parts(x)
        sizes = tuple(int(side.size) for side in longer)
        if sizes == self.sides:
            return x
        both = [(size, kept, (size - kept) // 2) for size, kept in zip(sizes, self.sides, strict=True)]
        # around the centre: of an odd number that is cut off, one more behind
        shorter = tuple(Ends(size, -before, kept - size + before) for size, kept, before in both)
        return m.record("view", x, to=laid_out(batch, channels, trace.sides(longer, self.sides)), windows=shorter)


def join(m: Module, how: str, tensors: list[Tensor], trace: Trace, axis: int = 0) -> Tensor:
    """Concatenated along an axis; or added, subtracted or multiplied, element by element."""
    if how == "concat":
        return _concatenated(m, tensors, trace, axis)
    to = _common(tensors)
    # equal sizes go under one name, and those of size 1 under names of their own
    same = [tensor.seen_as(*map(_of_both, tensor.dims, to)) for tensor in tensors]
    if how == "multiply":  # two at a time, each product kept for the next one's gradient
        found = reduce(lambda one, other: m.record(how, one, other, to=axes(*_common([one, other]))), same)
    else:
        found = m.record(how, *same, to=axes(*to))
    return trace.like(tensors[0], found)


def _concatenated(m: Module, tensors: list[Tensor], trace: Trace, axis: int) -> Tensor:
    if axis:
        tensors = [_with_place(tensor, trace) for tensor in tensors]
    each = [_in_order(tensor) for tensor in tensors]
    batch, channels, *sides = each[0]
    total = sum(int(dims[1 + axis].size) for dims in each)
    if axis:
        longer = tuple(total if index == axis - 1 else int(side.size) for index, side in enumerate(sides))
        whole = (channels, *trace.sides(tuple(sides), longer))
    else:
        whole = (trace.channels(total, len(sides)), *sides)
    own = ([*whole[:axis], dims[1 + axis], *whole[axis + 1 :]] for dims in each)
    aligned = [
        tensor.seen_as(*laid_out(batch, one[0], tuple(one[1:]))) for tensor, one in zip(tensors, own, strict=True)
    ]
    return m.record("concat", *aligned, to=laid_out(batch, whole[0], whole[1:]))


def _with_place(tensor: Tensor, trace: Trace) -> Tensor:
    """Beside positions a vector is one of them."""
    batch, channels, sides = parts(tensor)
    return tensor if sides else tensor.seen_as(batch, trace.positions(1), channels)


def _in_order(tensor: Tensor) -> tuple[Dim, ...]:
    """Its dims with the channels before the sides."""
    batch, channels, sides = parts(tensor)
    return (batch, channels, *sides)


def _common(tensors: list[Tensor]) -> tuple[Dim, ...]:
    """Along each axis the longest, of equally long ones that of the largest tensor."""
    by_size = sorted(tensors, key=_size, reverse=True)
    return tuple(max(axis, key=lambda dim: int(dim.size)) for axis in zip(*(one.dims for one in by_size), strict=True))


def _of_both(own: Dim, whole: Dim) -> Dim:
    return whole if own.size == whole.size else own


def _size(tensor: Tensor) -> int:
    return int(tensor.size)


FIELDS = JoinFields


def read(word: str, fields: JoinFields, shape: Shape, place: Place) -> tuple[Join, Shape]:
    if word == "subtract" and len(fields.branches) > 2:
        raise place.wrong("a difference has two branches", "the second is taken from the first", word)
    pairs = _alike(
        [branch_of(said, index, shape, place.below(word, index)) for index, said in enumerate(fields.branches)]
    )
    shapes = [shape for _, shape in pairs]
    if fields.along == POSITIONS and any(shape.is_sequence for shape in shapes):
        shapes = [shape if shape.sides else Shape.sequence(1, shape.channels) for shape in shapes]
    axis = axis_of(fields.along, shapes[0], place)
    behind = _joined(word, shapes, fields.crop, axis, place)
    branches, sides = tuple(branch for branch, _ in pairs), tuple(map(Derived, behind.sides))
    return Join(word, branches, sides, behind.is_sequence, fields.crop, axis), behind


def _alike(branches: list[tuple[Branch, Shape]]) -> list[tuple[Branch, Shape]]:
    """Tensors that are given are maps, or sequences, as the others are."""
    others = {shape.is_sequence for branch, shape in branches if not given_in(branch.layers)}
    if len(others) != 1:
        return branches
    found = [(branch, *joined_with(others == {True}, branch.layers, shape)) for branch, shape in branches]
    return [(replace(branch, layers=layers), shape) for branch, layers, shape in found]


def branch_of(said: Any, index: int, shape: Shape, place: Place) -> tuple[Branch, Shape]:
    name = f"branch_{index + 1}"
    if said == INPUT:
        return Branch(name, Sequence(())), shape
    if isinstance(said, str) and said in place.signals:
        return Branch(name, Sequence((), start=said)), place.named(said).shape
    if isinstance(said, str) and said not in (*place.reader.blocks, *place.scope):
        known = (INPUT, *place.signals)
        raise place.wrong(f"no earlier layer called {shown(said)}", did_you_mean(said, known))
    layers, behind = place.reader.steps(as_tuple(said), shape, place)
    return Branch(name, layers), behind


def _joined(word: str, shapes: list[Shape], crop: bool, axis: int, place: Place) -> Shape:
    told = " and ".join(map(str, shapes))
    if any(shape.is_ids for shape in shapes):
        raise place.wrong("ids of tokens cannot be joined", "put an embedding into each branch", word)
    if len({(len(shape.sides), shape.is_sequence) for shape in shapes}) > 1:
        hint = "`flatten` maps and sequences, or `reshape` vectors"
        raise place.wrong(f"the branches give {told}: vectors, maps or sequences", hint, word)
    smallest = tuple(map(min, zip(*(shape.sides for shape in shapes), strict=False)))
    if crop:
        shapes = [replace(shape, sides=smallest) for shape in shapes]
    if word == "concat":
        return _side_by_side(shapes, axis, told, place)
    sizes = [{size for size in axis if size > 1} or {1} for axis in zip(*map(_axes, shapes), strict=True)]
    if any(len(axis) > 1 for axis in sizes):
        hint = "make them equal, or 1 where one is spread over the other"
        raise place.wrong(f"the branches give {told}, which cannot be joined by {word}", hint, word)
    channels, *sides = (axis.pop() for axis in sizes)
    return replace(shapes[0], channels=channels, sides=tuple(sides))


def _side_by_side(shapes: list[Shape], axis: int, told: str, place: Place) -> Shape:
    sizes = [list(_axes(shape)) for shape in shapes]
    total = sum(each.pop(axis) for each in sizes)
    if any(each != sizes[0] for each in sizes):
        hint = "make the other sizes equal" if axis else "pad, pool or `crop: true`"
        raise place.wrong(
            f"the branches give {told}, whose {'other sizes' if axis else 'sides'} differ", hint, "concat"
        )
    sizes[0].insert(axis, total)
    return replace(shapes[0], channels=sizes[0][0], sides=tuple(sizes[0][1:]))


def _axes(shape: Shape) -> tuple[int, ...]:
    return shape.channels, *shape.sides
