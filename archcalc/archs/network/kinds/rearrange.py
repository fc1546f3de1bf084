"""Channels and places moved, cut or added: `{pad: 1}`, `{slice: [0, 58]}`, `{slice: [0, 1], along: positions}`,
`{shuffle: 2}`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from archcalc.archs.network.convolution import padded
from archcalc.archs.network.kinds.conv import need_map
from archcalc.archs.network.layer import Along, Place, Shape, Trace, axis_of, parts
from archcalc.archs.network.values import ALONE, Pair, as_paddings, paddings
from archcalc.core.ir import Module, Tensor, axes
from archcalc.spec.node import Node, field

WORDS = ("pad", "slice", "shuffle")


class RearrangeFields(Node):
    main: ClassVar[str] = "by"
    by: Any = field(
        ...,
        "Zeros at each end of every side.",
        example=1,
        words={
            "slice": ["What comes out: the first channel, and the one behind the last.", [[0, 32]]],
            "shuffle": ["Groups of channels, which are dealt out in turn.", [4]],
        },
    )
    along: Along | None = field(
        None,
        "What is counted: channels, the positions of a sequence, or the places along a side of a map.",
        example="positions",
        unset="channels; of a sequence, features",
        beside={"by": [0, 1]},
        words={"pad": None, "shuffle": None},
    )


@dataclass(frozen=True)
class Pad:
    spec_kind: ClassVar[str] = "pad"
    padding: tuple[Pair, ...]

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        return padded(m, x, self.padding, trace)


@dataclass(frozen=True)
class Slice:
    """From `first` up to `end`, of an axis behind the samples: 0 are the channels."""

    spec_kind: ClassVar[str] = "slice"
    axis: int
    first: int
    end: int

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        batch, channels, sides = parts(x)
        sizes = [int(dim.size) for dim in (channels, *sides)]
        sizes[self.axis] = self.end - self.first
        kept = trace.sides(sides, tuple(sizes[1:]))
        if not self.axis:
            channels = trace.channels(sizes[0], len(sides))
        return m.record("view", x, to=axes(batch, channels, *kept))


@dataclass(frozen=True)
class Shuffle:
    """Channels of all groups, mixed: those of every group in turn."""

    spec_kind: ClassVar[str] = "shuffle"
    groups: int

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        return m.record("reorder", x)


FIELDS = RearrangeFields


def read(word: str, fields: RearrangeFields, shape: Shape, place: Place) -> tuple[Any, Shape]:
    said = fields.by
    if word == "pad":
        return _pad(said, shape, place)
    if word == "slice":
        return _slice(said, axis_of(fields.along, shape, place), shape, place)
    if not isinstance(said, int) or isinstance(said, bool) or said < 1 or shape.channels % said:
        raise place.wrong(f"expected a number of groups that divides {shape.channels} channels", key="shuffle")
    return Shuffle(said), shape


def _slice(said: Any, axis: int, shape: Shape, place: Place) -> tuple[Slice, Shape]:
    sizes = [shape.channels, *shape.sides]
    whole = isinstance(said, list | tuple) and len(said) == 2 and all(type(each) is int for each in said)
    if not whole or not 0 <= said[0] < said[1] <= sizes[axis]:
        counted = "places" if axis else "channels"
        fact = f"expected two {counted} from 0 to {sizes[axis]}, such as [0, {max(1, sizes[axis] // 2)}]"
        raise place.wrong(fact, key="slice")
    sizes[axis] = said[1] - said[0]
    return Slice(axis, *said), Shape(sizes[0], tuple(sizes[1:]))


def _pad(said: Any, shape: Shape, place: Place) -> tuple[Pad, Shape]:
    need_map("pad", shape, place)
    hint = "give zeros at each end, such as 1, or [[0, 1], [0, 1]]"
    if said in ALONE:
        raise place.wrong(f"expected a number, found {said}", hint, "pad")
    try:
        found = paddings(as_paddings(said), len(shape.sides), place)
    except ValueError as reason:
        raise place.wrong(str(reason), hint, "pad") from None
    sides = tuple(size + sum(ends) for size, ends in zip(shape.sides, found, strict=True))
    return Pad(found), Shape(shape.channels, sides)
