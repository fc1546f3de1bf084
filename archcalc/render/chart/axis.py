"""Axes of a chart of curves: scales for its heights and places, and what stands at their ticks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import floor, log

from archcalc.render.chart.drawing import Point
from archcalc.render.chart.scale import Linear, Log
from archcalc.report.picture import Curves, Line, Panel
from archcalc.spec.units import binary_bytes, decimal_bytes

ABOVE = 1.04  # room above the highest
_UNITS = {  # base, and the names of its powers
    "bytes": (1024, ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB")),
    "flops": (1000, ("", "k", "M", "G", "T", "P", "E", "Z")),
    "count": (1000, ("", "k", "M", "B", "T", "P", "E", "Z")),
}


def heights(panel: Panel, start: float, end: float) -> Linear:
    """From 0, or on a log axis from a little below the lowest, to a little above the highest."""
    found = [height for line in panel.lines for height in line.heights if height is not None]
    found += [limit.height for limit in panel.limits]
    high = max(found) * ABOVE
    is_binary = panel.unit == "bytes"
    if panel.log:
        low = min(height for height in found if height > 0) / ABOVE
        return Log(low, high, start, end, base=2 if is_binary else 10)
    if is_binary:
        return Linear(0, high, start, end, 1024 ** floor(log(max(high, 1), 1024)))
    return Linear(0, high, start, end)


def height_ticks(panel: Panel, scale: Linear, about: int) -> list[tuple[float, str]]:
    """Each with its label: `16 GiB`, `1.5 T`."""
    (base, names), ticks = _UNITS[panel.unit], scale.ticks(about)
    powers = [min(floor(log(max(tick, 1), base) + 1e-9), 7) for tick in ticks]
    labels = (f"{tick / base**power:.4g} {names[power]}" for tick, power in zip(ticks, powers, strict=True))
    return [(tick, label.rstrip() if tick else "0") for tick, label in zip(ticks, labels, strict=True)]


@dataclass(frozen=True)
class Places:
    """Where the values of the axis stand: names at equal distances."""

    chart: Curves
    scale: Linear

    @classmethod
    def of(cls, chart: Curves, start: float, end: float) -> Places:
        if not chart.numeric:
            return cls(chart, Linear(0, max(len(chart.places) - 1, 1), start, end))
        sizes = [place for place in chart.places if isinstance(place, int)]
        kind = Log if chart.log else Linear
        return cls(chart, kind(sizes[0], sizes[-1], start, end))

    def at(self, index: int) -> float:
        place = self.chart.places[index]
        if self.chart.numeric and isinstance(place, int):
            return self.scale.place(place)
        return self.scale.place(index)

    def end(self, line: Line) -> float:
        """Where it leaves what its model is made for."""
        return float("inf") if line.until is None else self.scale.place(line.until)

    def path(self, line: Line, heights: Linear) -> list[Point | None]:
        """The way of a line; None at its gaps."""
        return _points(((self.scale.place(x), y) for x, y in line.path), heights)

    def points(self, line: Line, heights: Linear) -> list[Point | None]:
        """The places of the axis alone."""
        return _points(((self.at(index), y) for index, y in enumerate(line.heights)), heights)


def _points(ways: Iterable[tuple[float, float | None]], heights: Linear) -> list[Point | None]:
    return [None if y is None else (x, heights.place(y)) for x, y in ways]


def place_labels(chart: Curves) -> list[str]:
    """All by thousands, all by 1024, or in full."""
    sizes = [place for place in chart.places if isinstance(place, int) and not isinstance(place, bool)]
    if len(sizes) < len(chart.places):
        return [str(place).lower() if isinstance(place, bool) else str(place) for place in chart.places]
    if chart.of_bytes:
        return [binary_bytes(size) if size % 1024 == 0 else decimal_bytes(size) for size in sizes]
    large = [size for size in sizes if size >= 1000]
    for base, letters in ((1000, ("", "k", "M", "B", "T")), (1024, ("", "Ki", "Mi", "Gi", "Ti"))):
        if large and max(large) >= 16 * base and all(size % base == 0 for size in large):
            return [_by(size, base, letters) for size in sizes]
    return [f"{size:,}" for size in sizes]


def _by(size: int, base: int, letters: tuple[str, ...]) -> str:
    power = 0
    while size and size % base == 0 and power < len(letters) - 1:
        size, power = size // base, power + 1
    return f"{size:,}{letters[power]}"
