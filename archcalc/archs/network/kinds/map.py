"""From a sequence to a map whose channels are the features: `{map: 7 × 7}`, or `map` for a map with one side."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from archcalc.archs.network.layer import SEQUENCES, Place, Shape, Trace, parts
from archcalc.archs.network.sample import MOST_SIDES, SampleOrTrue
from archcalc.core.ir import Module, Tensor, axes
from archcalc.spec.node import Node, field

WORDS = ("map",)
MAY_STAND_ALONE = True
READS = (SEQUENCES,)


class MapFields(Node):
    main: ClassVar[str] = "sides"
    sides: SampleOrTrue = field(
        ..., "The sides of the map, row by row as many places as there are positions. True: one side.", example=[7, 7]
    )


@dataclass(frozen=True)
class ToMap:
    """None: one side, as long as the sequence."""

    spec_kind: ClassVar[str] = "to_map"
    sides: tuple[int, ...] | None

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        batch, features, positions = parts(x)
        sides = trace.sides((), self.sides or tuple(int(dim.size) for dim in positions))
        channels = trace.channels(int(features.size), len(sides))
        return trace.channels_first(m, x, axes(batch, channels, *sides))


FIELDS = MapFields


def read(word: str, fields: MapFields, shape: Shape, place: Place) -> tuple[ToMap, Shape]:
    if not shape.is_sequence:
        raise place.wrong(f"map reads a sequence, and {shape} comes in", "take it out, or use `reshape`", word)
    if fields.sides is False:
        raise place.wrong("a layer without effect", "take it out", word)
    if fields.sides is True:
        return ToMap(None), Shape(shape.channels, shape.sides)
    if len(fields.sides) > MOST_SIDES:
        raise place.wrong(f"{len(fields.sides)} sides for a map", f"give up to {MOST_SIDES}, such as 7 × 7", word)
    if prod(fields.sides) != shape.sides[0]:
        told = " × ".join(map(str, fields.sides))
        fact = f"{shape.sides[0]:,} positions, but {prod(fields.sides):,} places in a map of {told}"
        raise place.wrong(fact, "give sides whose product is the number of positions", word)
    return ToMap(tuple(fields.sides)), Shape(shape.channels, tuple(fields.sides))
