"""From a map to a sequence: `{sequence: width}` makes one side the positions, `sequence` alone all places."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar, Literal

from archcalc.archs.network.kinds.conv import need_map
from archcalc.archs.network.layer import SEQUENCES, SIDES, Place, Shape, Trace, parts
from archcalc.core.count import product
from archcalc.core.ir import Module, Tensor, axes
from archcalc.spec.node import Node, field

WORDS = ("sequence",)
MAY_STAND_ALONE = True
READS = (SEQUENCES,)


class SequenceFields(Node):
    main: ClassVar[str] = "along"
    along: Literal["length", "depth", "height", "width"] | bool = field(
        ...,
        "The side of a map whose places become the positions; the channels, and the other sides, become the features of"
        " each. True: all places become positions.",
        example="width",
    )


@dataclass(frozen=True)
class ToSequence:
    """`side` is the side of the map that becomes the positions; none: all of them do."""

    spec_kind: ClassVar[str] = "to_sequence"
    side: int | None

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        batch, channels, sides = parts(x)
        chosen = sides if self.side is None else (sides[self.side],)
        others = (channels, *(side for side in sides if side not in chosen))
        positions, features = product([side.size for side in chosen]), product([side.size for side in others])
        note = f"{features.worked()} = {int(features):,}" if len(others) > 1 else ""
        to = axes(batch, trace.positions(int(positions)), trace.channels(int(features), 0))
        if chosen[-1] is sides[-1] or len(others) == 1:  # the others lie side by side: one axis, then transposed
            return trace.turned(m.record("view", x, to=to, note=note))
        return m.record("reorder", x, to=to, note=note)


FIELDS = SequenceFields


def read(word: str, fields: SequenceFields, shape: Shape, place: Place) -> tuple[ToSequence, Shape]:
    if shape.is_sequence:
        raise place.wrong(f"a sequence of {shape} comes in already", "take it out", word)
    need_map(word, shape, place)
    if not fields.along:
        raise place.wrong("a layer without effect", "take it out", word)
    names = SIDES[len(shape.sides)]
    if isinstance(fields.along, bool):
        return ToSequence(None), Shape.sequence(prod(shape.sides), shape.channels)
    if fields.along not in names:
        fact = f"a map of {shape} has no {fields.along}"
        raise place.wrong(fact, f"use {' or '.join(names)}", word)
    side = names.index(fields.along)
    return ToSequence(side), Shape.sequence(shape.sides[side], shape.size // shape.sides[side])
