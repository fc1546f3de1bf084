"""Positions and features change places, as in an MLP mixer: `transpose`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from archcalc.archs.network.layer import SEQUENCES, Place, Shape, Trace, parts
from archcalc.core.ir import Module, Tensor, axes
from archcalc.spec.node import Node, field

WORDS = ("transpose",)
MAY_STAND_ALONE = True
READS = (SEQUENCES,)


class TransposeFields(Node):
    main: ClassVar[str] = "axes"
    axes: bool = field(True, "Always true: the two axes of a sequence change places.", example=True)


@dataclass(frozen=True)
class Transpose:
    spec_kind: ClassVar[str] = "transpose"

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        batch, features, (positions,) = parts(x)
        to = axes(batch, trace.positions(features.size), trace.channels(positions.size, 0))
        out = m.record("view", x, to=to)
        return trace.turned_back(x, out)


FIELDS = TransposeFields


def read(word: str, fields: TransposeFields, shape: Shape, place: Place) -> tuple[Transpose, Shape]:
    if not shape.is_sequence:
        raise place.wrong(f"transpose reads a sequence, and {shape} comes in", "put `sequence` before it", word)
    if not fields.axes:
        raise place.wrong("a layer without effect", "take it out", word)
    return Transpose(), Shape.sequence(shape.channels, shape.sides[0])
