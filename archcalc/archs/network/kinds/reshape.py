"""Other shapes of the same numbers: `flatten`, and `{reshape: 256 × 7 × 7}`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from archcalc.archs.network.layer import SEQUENCES, SIDES, Place, Shape, Trace, parts
from archcalc.archs.network.sample import SampleOrTrue
from archcalc.core.count import Count, product
from archcalc.core.derived import Derived
from archcalc.core.ir import Dim, Module, Tensor, axes
from archcalc.spec.node import Node, field

WORDS = ("flatten", "reshape")
MAY_STAND_ALONE = True
READS = (SEQUENCES,)


class ReshapeFields(Node):
    main: ClassVar[str] = "to"
    to: SampleOrTrue = field(
        ...,
        "Channels and sides that come out: as many numbers as come in.",
        example=[256, 16, 16],
        words={"flatten": ["Always true: one vector of all numbers comes out.", [True]]},
    )


@dataclass(frozen=True)
class Reshape:
    """`to` is the shape of one sample; one number makes a vector."""

    spec_kind: ClassVar[str] = "reshape"
    to: tuple[int, ...]

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        batch, channels, sides = parts(x)
        first, *others = self.to
        note = ""
        out: Any = trace.channels(first, len(others))
        if not others:
            worked = product((channels.size, *(side.size for side in sides)))
            note = f"{worked.worked()} = {int(worked):,}" if sides else ""
            out = Dim(out.name, Count.named(out.name, first))
        names = SIDES[len(others)]
        behind = trace.sides((), tuple(others)) if names else ()
        return m.record("view", trace.in_order(m, x), to=axes(batch, out, *behind), note=note)


FIELDS = ReshapeFields


def read(word: str, fields: ReshapeFields, shape: Shape, place: Place) -> tuple[Reshape, Shape]:
    if word == "flatten":
        if fields.to is not True:
            raise place.wrong("flatten makes a vector of what comes in", "write `reshape` to give a shape", word)
        return Reshape((Derived(shape.size),)), Shape(shape.size)
    if isinstance(fields.to, bool):
        raise place.wrong("reshape needs the shape that comes out", "such as `reshape: 256 × 7 × 7`", word)
    channels, *sides = fields.to
    behind = Shape(channels, tuple(sides))
    if behind.size != shape.size:
        fact = f"{shape} has {shape.size:,} numbers, {behind} has {behind.size:,}"
        raise place.wrong(fact, "reshaping keeps their number", word)
    return Reshape(tuple(fields.to)), behind
