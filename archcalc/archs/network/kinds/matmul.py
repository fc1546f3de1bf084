"""The product of two matrices that a sample has: `{matmul: [input, transform]}`, `{matmul: [q, k], transpose: second}`.

The rows of a sequence are its positions, those of a map with one side its channels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import Field

from archcalc.archs.network.kinds.join import Branch, branch_of
from archcalc.archs.network.layer import IDS, SEQUENCES, Place, Shape, Trace
from archcalc.archs.network.values import Layers
from archcalc.core.ir import Dim, Module, Region, Tensor, axes
from archcalc.spec.node import Node, field

WORDS = ("matmul",)
READS = (SEQUENCES, IDS)
TRANSPOSED = {"first": (True, False), "second": (False, True), "both": (True, True), "none": (False, False)}


class MatmulFields(Node):
    main: ClassVar[str] = "branches"
    branches: Layers = Field(
        examples=[["input", [{"parameter": [64, 64]}]]],
        min_length=2,
        description="The two factors: lists of layers, `input`, or names of earlier layers.",
    )
    transpose: Literal["none", "first", "second", "both"] = field(
        "none", "Which of the two is transposed.", example="second"
    )
    scaled: bool = field(
        False, "The product is divided by the root of how many numbers are summed, as attention does.", example=True
    )


@dataclass(frozen=True)
class Matmul:
    spec_kind: ClassVar[str] = "matmul"
    branches: tuple[Branch, Branch]
    transposed: tuple[bool, bool]
    scaled: bool
    shape: Shape  # that comes out

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        first, second = (branch.run(m, x, trace) for branch in self.branches)
        batch, *around = first.dims
        rows, columns = trace.dims_of(self.shape)
        rows = around[0] if self.shape.is_sequence else rows  # the same positions
        inner = trace.channels(int(around[not self.transposed[0]].size), 0)
        factors = (
            first.seen_as(batch, *_turned((rows, inner), self.transposed[0])),
            second.seen_as(batch, *_turned((inner, columns), self.transposed[1])),
        )
        to = axes(batch, rows, columns)
        found = m.section(Region.PRODUCT).record("contract", *factors, to=to, over=(inner,))
        return m.record("scale" if self.scaled else "identity", found)


def _turned(dims: tuple[Dim, Dim], is_turned: bool) -> tuple[Dim, Dim]:
    return (dims[1], dims[0]) if is_turned else dims


FIELDS = MatmulFields


def read(word: str, fields: MatmulFields, shape: Shape, place: Place) -> tuple[Matmul, Shape]:
    if len(fields.branches) > 2:
        raise place.wrong("a product has two factors", "multiply it with the third in a layer of its own", word)
    transposed = TRANSPOSED[fields.transpose]
    pair = [branch_of(said, index, shape, place.below(word, index)) for index, said in enumerate(fields.branches)]
    for _, each in pair:
        if len(each.sides) != 1 or each.is_ids:
            hint = "`reshape` it to two sizes, such as `reshape: 3 × 3`"
            raise place.wrong(f"matmul multiplies matrices, and {each} is none", hint, word)
    (rows, inner), (other, columns) = (
        _turned_sizes(_matrix(each), is_turned) for (_, each), is_turned in zip(pair, transposed, strict=True)
    )
    if inner != other:
        fact = f"a matrix of {rows} × {inner} cannot be multiplied with one of {other} × {columns}"
        raise place.wrong(fact, "`transpose: second` turns the second of them", word)
    is_sequence = pair[0][1].is_sequence and not transposed[0]
    behind = Shape.sequence(rows, columns) if is_sequence else Shape(rows, (columns,))
    return Matmul((pair[0][0], pair[1][0]), transposed, fields.scaled, behind), behind


def _turned_sizes(sizes: tuple[int, int], is_turned: bool) -> tuple[int, int]:
    return (sizes[1], sizes[0]) if is_turned else sizes


def _matrix(shape: Shape) -> tuple[int, int]:
    """Rows and columns."""
    (side,) = shape.sides
    return (side, shape.channels) if shape.is_sequence else (shape.channels, side)
