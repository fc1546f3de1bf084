"""Pooling: `{pool: max, kernel: 3, stride: 2}`, or to a given size, `{pool: average, to: 1}` (adaptive pooling)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic.config import JsonDict

from archcalc.archs.network.convolution import taps_of
from archcalc.archs.network.kinds.conv import need_map, places_of
from archcalc.archs.network.layer import Place, Shape, Trace, parts
from archcalc.archs.network.values import FromZero, Sizes, for_each_side
from archcalc.core.derived import Derived
from archcalc.core.ir import Module, Tensor, axes
from archcalc.core.windows import Bins, Window
from archcalc.spec.node import Node, field

WORDS = ("pool",)
WITH_KERNEL: JsonDict = {"kernel": 3}  # or with `to`


class PoolFields(Node):
    main: ClassVar[str] = "kind"
    kind: Literal["max", "average"] = field(
        ..., "The largest number of a window, or its mean.", example="max", beside=WITH_KERNEL
    )
    kernel: Sizes | None = field(
        None, "Size of the window: one number, or one for each side.", example=3, unset="needed, unless `to` is given"
    )
    stride: Sizes | None = field(
        None,
        "How many positions the window moves from one output to the next.",
        example=2,
        unset="the kernel's size: windows do not overlap",
        beside=WITH_KERNEL,
    )
    padding: FromZero = field(0, "Positions added at both ends.", example=1, beside=WITH_KERNEL)
    dilation: Sizes = field(
        1,
        "Max pooling: the distance between neighbouring numbers of a window; 1: they are contiguous.",
        example=2,
        beside=WITH_KERNEL,
    )
    ceil: bool = field(
        False, "Round the number of windows up, so that the last may be cut.", example=True, beside=WITH_KERNEL
    )
    to: Sizes | None = field(
        None,
        "Adaptive pooling: the size that comes out, whatever comes in.",
        example=1,
        unset="the kernel and its stride decide",
    )


@dataclass(frozen=True)
class Pool:
    spec_kind: ClassVar[str] = "pool"
    kind: str
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: int
    dilation: tuple[int, ...]
    ceil: bool

    def windows(self, sizes: tuple[int, ...]) -> tuple[Window, ...]:
        ends = (self.padding, self.padding)
        return tuple(
            Window(size, kernel, stride, *ends, dilation, self.ceil)
            for size, kernel, stride, dilation in zip(sizes, self.kernel, self.stride, self.dilation, strict=True)
        )

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        batch, channels, before = parts(x)
        windows = self.windows(tuple(int(side.size) for side in before))
        sides = trace.sides(before, tuple(window.places for window in windows))
        taps = taps_of(self.kernel)
        seen = m.record("view", x, to=axes(batch, channels, *sides, *taps), windows=windows)
        return m.record(f"{self.kind}_pool", seen, to=axes(batch, channels, *sides), over=taps)


@dataclass(frozen=True)
class PoolTo:
    """Adaptive pooling."""

    spec_kind: ClassVar[str] = "pool_to"
    kind: str
    to: tuple[int, ...]

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        batch, channels, before = parts(x)
        bins = tuple(Bins(int(side.size), places) for side, places in zip(before, self.to, strict=True))
        sides = trace.sides(before, self.to)
        out = axes(batch, channels, *sides)
        if self.kind == "average" and set(self.to) == {1}:
            summed = tuple(dim for dim in before if dim not in sides)
            return m.record("sum", x, to=out, over=summed, windows=bins)  # PyTorch takes the mean
        taps = taps_of(tuple(each.reach for each in bins))
        seen = m.record("view", x, to=axes(batch, channels, *sides, *taps), windows=bins)
        return m.record(f"{self.kind}_pool", seen, to=out, over=taps)


FIELDS = PoolFields


def read(word: str, fields: PoolFields, shape: Shape, place: Place) -> tuple[Pool | PoolTo, Shape]:
    need_map(word, shape, place)
    number = len(shape.sides)
    if fields.to is not None and fields.kernel is None:
        to = for_each_side(fields.to, number, place, "to")
        return PoolTo(fields.kind, to), Shape(shape.channels, to)
    if fields.kernel is None or fields.to is not None:
        raise place.wrong("pooling needs a kernel, or the size `to` pool to", "give one of the two", word)
    kernel = for_each_side(fields.kernel, number, place, "kernel")
    said = fields.stride
    stride = tuple(map(Derived, kernel)) if said is None else for_each_side(said, number, place, "stride")
    if fields.padding * 2 > min(kernel):
        hint = "PyTorch refuses it too: use a smaller padding"
        raise place.wrong(f"a padding of {fields.padding} is more than half of the kernel", hint, "padding")
    dilation = for_each_side(fields.dilation, number, place, "dilation")
    if fields.kind == "average" and set(dilation) != {1}:
        raise place.wrong("average pooling has no dilation", "take it out", "dilation")
    made = Pool(fields.kind, kernel, stride, fields.padding, dilation, fields.ceil)
    return made, Shape(shape.channels, places_of(made.windows(shape.sides), place))
