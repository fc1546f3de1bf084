"""Larger maps without weights: `{upsample: 2}`, and `{pixel_shuffle: 2}`, which takes channels for places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from archcalc.archs.network.kinds.conv import need_map
from archcalc.archs.network.layer import Place, Shape, Trace, parts
from archcalc.core.ir import Module, Tensor, axes
from archcalc.core.windows import Enlarged
from archcalc.spec.node import Node, Size, field

WORDS = ("upsample", "pixel_shuffle")


class UpsampleFields(Node):
    main: ClassVar[str] = "times"
    times: Size = field(
        ...,
        "How many times longer each side becomes.",
        example=2,
        words={"pixel_shuffle": ["How many times longer each side becomes, from times² as many channels each.", [2]]},
    )
    mode: Literal["nearest", "linear"] = field(
        "nearest",
        "Copies of the nearest place, or linear (bilinear) interpolation.",
        example="linear",
        words={"pixel_shuffle": None},
    )


@dataclass(frozen=True)
class Upsample:
    spec_kind: ClassVar[str] = "upsample"
    factor: int
    mode: str

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        batch, channels, before = parts(x)
        neighbours = 2 if self.mode == "linear" else 1
        windows = tuple(Enlarged(int(side.size), self.factor, neighbours) for side in before)
        sides = trace.sides(before, tuple(window.places for window in windows))
        return m.record("enlarge", x, to=axes(batch, channels, *sides), windows=windows)


@dataclass(frozen=True)
class PixelShuffle:
    """`factor`² channels become `factor` × `factor` places."""

    spec_kind: ClassVar[str] = "pixel_shuffle"
    factor: int

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        batch, channels, before = parts(x)
        windows = tuple(Enlarged(int(side.size), self.factor) for side in before)
        sides = trace.sides(before, tuple(window.places for window in windows))
        out = trace.channels(int(channels.size) // self.factor ** len(before), len(sides))
        return m.record("reorder", x, to=axes(batch, out, *sides), windows=windows)


FIELDS = UpsampleFields


def read(word: str, fields: UpsampleFields, shape: Shape, place: Place) -> tuple[Upsample | PixelShuffle, Shape]:
    need_map(word, shape, place)
    sides = tuple(size * fields.times for size in shape.sides)
    if word == "upsample":
        return Upsample(fields.times, fields.mode), Shape(shape.channels, sides)
    if "mode" in fields.model_fields_set:
        raise place.wrong("pixel_shuffle has no mode", "take it out; upsample has one", "mode")
    channels, rest = divmod(shape.channels, fields.times ** len(sides))
    if len(sides) != 2 or rest:
        fact = f"a map of {shape} cannot be shuffled into places of {fields.times} × {fields.times}"
        raise place.wrong(fact, f"it needs two sides, and a multiple of {fields.times**2} channels", word)
    return PixelShuffle(fields.times), Shape(channels, sides)
