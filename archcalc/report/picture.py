"""Pictures that a report has besides its tables, as raw values: renderers draw them as SVG or in characters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from archcalc.spec.units import binary_bytes

Number = int | float
Kind = Literal["count", "flops", "bytes"]
SEEN = 1 / 10  # of the largest: values that differ by less look alike


def says_something(lengths: Iterable[Number | None]) -> bool:
    """Whether a picture of these shows more than one number: bars, levels or areas that are all alike show nothing."""
    found = [each for each in lengths if each is not None]
    return bool(found) and max(found) - min(found) > SEEN * max(found)


@dataclass(frozen=True)
class Line:
    """A curve; None where it has a gap. `number` is its place among all that are told apart, the same in every panel.
    `path` has what was computed besides, between the places of the axis; of names, the path goes by their places.
    Beyond `until`, where there is such a place, is what the model is not made for."""

    label: str
    number: int
    heights: tuple[Number | None, ...]
    path: tuple[tuple[int, Number | None], ...]
    until: int | None = None


@dataclass(frozen=True)
class Limit:
    """A horizontal line: what a device has."""

    name: str
    height: int

    @property
    def label(self) -> str:
        return f"{self.name} · {binary_bytes(self.height)}"


@dataclass(frozen=True)
class Meeting:
    """A place where lines cross, and its label."""

    place: int
    height: Number
    label: str
    told: str  # the same as a sentence


@dataclass(frozen=True)
class Panel:
    """Lines of one unit."""

    title: str
    unit: Kind
    lines: tuple[Line, ...]
    limits: tuple[Limit, ...] = ()
    meetings: tuple[Meeting, ...] = ()
    log: bool = False


@dataclass(frozen=True)
class Curves:
    """Panels over one axis, of numbers or of names."""

    title: str
    told: str
    axis: str
    places: tuple[int | str, ...]
    panels: tuple[Panel, ...]
    numeric: bool = True
    log: bool = False
    of_bytes: bool = False
    beneath: tuple[str, ...] = ()  # sentences under it


@dataclass(frozen=True)
class Stretch:
    """A part of a step: how high it is, and what it is called."""

    phase: str
    name: str
    height: int


@dataclass(frozen=True)
class Skyline:
    """Memory over a step: stretches in their order, `peak` the place of the highest, what is there throughout; and why
    that is the peak."""

    stretches: tuple[Stretch, ...]
    peak: int
    throughout: int
    why: str


Picture = Curves | Skyline
