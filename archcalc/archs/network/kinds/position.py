"""Position encodings added to a sequence: `{position: learned}`, `{position: sinusoidal}`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from archcalc.archs.network.layer import SEQUENCES, Place, Shape, Trace
from archcalc.core.ir import Module, Tensor
from archcalc.layers.embedding import add_learned_positions, add_sinusoids
from archcalc.spec.node import Node, Size, field

WORDS = ("position",)
READS = (SEQUENCES,)


class PositionFields(Node):
    main: ClassVar[str] = "kind"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {
        "learned": frozenset({"length"}),
        "sinusoidal": frozenset(),
    }
    kind: Literal["learned", "sinusoidal"] = field(
        ..., "A learned vector for each position, or sines and cosines, which are worked out.", example="learned"
    )
    length: Size | None = field(
        None,
        "Rows of the learned table.",
        example=512,
        unset="as many as there are positions",
        beside={"kind": "learned"},
    )


@dataclass(frozen=True)
class Position:
    spec_kind: ClassVar[str] = "position"
    kind: str
    length: int | None
    width: int

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        if self.length is None:
            return add_sinusoids(m, x, None, stored=False)
        return add_learned_positions(m, x, self.length, 0)


FIELDS = PositionFields


def read(word: str, fields: PositionFields, shape: Shape, place: Place) -> tuple[Position, Shape]:
    if not shape.is_sequence:
        raise place.wrong(
            f"positions of a sequence are encoded, and {shape} comes in", "put `sequence` before it", word
        )
    fields.check_kind(fields.kind, place.path)
    if fields.kind == "sinusoidal":
        return Position(fields.kind, None, shape.channels), shape
    length = fields.length or shape.sides[0]
    if length < shape.sides[0]:
        fact = f"{shape.sides[0]:,} positions, but a table of {length:,}"
        raise place.wrong(fact, "give it a row for each position", "length")
    return Position(fields.kind, length, shape.channels), shape
