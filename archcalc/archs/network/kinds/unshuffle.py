"""Smaller maps without weights: `{pixel_unshuffle: 2}` puts the places of each window side by side as channels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from archcalc.archs.network.kinds.conv import need_map
from archcalc.archs.network.layer import Place, Shape, Trace, parts
from archcalc.core.ir import Module, Tensor, axes
from archcalc.core.windows import Window
from archcalc.spec.node import Node, Size, field

WORDS = ("pixel_unshuffle",)


class UnshuffleFields(Node):
    main: ClassVar[str] = "times"
    times: Size = field(
        ..., "How many times shorter each side becomes, and times² as many channels there are.", example=2
    )


@dataclass(frozen=True)
class PixelUnshuffle:
    """`factor` × `factor` places become `factor`² channels."""

    spec_kind: ClassVar[str] = "pixel_unshuffle"
    factor: int

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        batch, channels, before = parts(x)
        windows = tuple(Window(int(side.size), self.factor, self.factor) for side in before)
        sides = trace.sides(before, tuple(window.places for window in windows))
        out = trace.channels(int(channels.size) * self.factor ** len(before), len(sides))
        return m.record("reorder", x, to=axes(batch, out, *sides), windows=windows)


FIELDS = UnshuffleFields


def read(word: str, fields: UnshuffleFields, shape: Shape, place: Place) -> tuple[PixelUnshuffle, Shape]:
    need_map(word, shape, place)
    times = fields.times
    if len(shape.sides) != 2 or any(side % times for side in shape.sides):
        fact = f"a map of {shape} cannot be cut into windows of {times} × {times}"
        raise place.wrong(fact, "it needs two sides, and each a multiple of that", word)
    return PixelUnshuffle(times), Shape(shape.channels * times**2, tuple(side // times for side in shape.sides))
