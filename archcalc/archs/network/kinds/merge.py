"""Neighbouring positions side by side as one: `{merge: 4}`, or of a grid `{merge: 2 × 2}`."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from archcalc.archs.network.layer import SEQUENCES, Place, Shape, Trace, parts
from archcalc.archs.network.sample import Sample
from archcalc.core.ir import Module, Tensor, axes
from archcalc.spec.node import Node, field

WORDS = ("merge",)
READS = (SEQUENCES,)


class MergeFields(Node):
    main: ClassVar[str] = "positions"
    positions: Sample = field(
        ...,
        "How many neighbours become one, their features side by side; of a grid whose neighbours follow each other,"
        " such as 2 × 2.",
        example=4,
    )


@dataclass(frozen=True)
class Merge:
    spec_kind: ClassVar[str] = "merge"
    neighbours: int

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        batch, features, (positions,) = parts(x)
        wide = trace.channels(int(features.size) * self.neighbours, 0)
        fewer = trace.positions(int(positions.size) // self.neighbours)
        note = f"{int(features.size):,} · {self.neighbours} = {int(wide.size):,}"
        return m.record("view", trace.in_order(m, x), to=axes(batch, fewer, wide), note=note)


FIELDS = MergeFields


def read(word: str, fields: MergeFields, shape: Shape, place: Place) -> tuple[Merge, Shape]:
    if not shape.is_sequence:
        raise place.wrong(f"merge reads a sequence, and {shape} comes in", "put `sequence` before it", word)
    times, positions = prod(fields.positions), shape.sides[0]
    if positions % times:
        fact = f"{positions:,} positions cannot be merged {times:,} by {times:,}"
        raise place.wrong(fact, "use a divisor of their number", word)
    return Merge(times), Shape.sequence(positions // times, shape.channels * times)
