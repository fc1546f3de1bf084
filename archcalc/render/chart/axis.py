"""Axes of a chart of curves: scales for its heights and places, and what stands at their ticks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log

from archcalc.render.chart.drawing import Point
from archcalc.render.chart.scale import Linear, Log, Scale
from archcalc.report.picture import Curves, Line, Panel
from archcalc.spec.units import binary_bytes, decimal_bytes

ABOVE = 1.04  # room above the highest
_PREFIXES = {"flops": ("", "k", "M", "G", "T", "P", "E", "Z"), "count": ("", "k", "M", "B", "T", "P", "E", "Z")}
_BYTES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB")


def heights(panel: Panel, start: float, end: float) -> Scale:
    """From 0, or on a log axis from a little below the lowest, to a little above the highest."""
    found = [height for line in panel.lines for height in line.heights if height is not None]
    found += [limit.height for limit in panel.limits]
    high = max(found) * ABOVE
    if not panel.log:
        unit = 1024 ** floor(log(max(high, 1), 1024)) if panel.unit == "bytes" else 1
        return Linear(0, high, start, end, unit)
    low = min(height for height in found if height > 0) / ABOVE
    return Log(low, high, start, end, base=2 if panel.unit == "bytes" else 10)


def height_ticks(panel: Panel, scale: Scale, about: int) -> list[tuple[float, str]]:
    return [(tick, _short(tick, panel)) for tick in scale.ticks(about)]


def _short(value: float, panel: Panel) -> str:
    """`16 GiB`, `1.5 T`."""
    if not value:
        return "0"
    base = 1024 if panel.unit == "bytes" else 1000
    power = min(floor(log(value, base) + 1e-9), 7) if value >= 1 else 0
    shown = f"{value / base**power:.4g}"
    return f"{shown} {_BYTES[power] if panel.unit == 'bytes' else _PREFIXES[panel.unit][power]}".rstrip()


@dataclass(frozen=True)
class Places:
    """Where the values of the axis stand: names at equal distances."""

    chart: Curves
    scale: Scale

    @classmethod
    def of(cls, chart: Curves, start: float, end: float) -> Places:
        if not chart.numeric:
            return cls(chart, Linear(0, max(len(chart.places) - 1, 1), start, end))
        sizes = [place for place in chart.places if isinstance(place, int)]
        kind = Log if chart.log else Linear
        return cls(chart, kind(sizes[0], sizes[-1], start, end))

    def at(self, index: int) -> float:
        place = self.chart.places[index]
        return self.scale.place(place if self.chart.numeric and isinstance(place, int) else index)

    def of_value(self, value: float) -> float:
        return self.scale.place(value)

    def path(self, line: Line, heights: Scale) -> list[Point | None]:
        """The way of a line; None at its gaps."""
        return [(self.of_value(x), heights.place(y)) if y is not None else None for x, y in line.path]

    def points(self, line: Line, heights: Scale) -> list[Point | None]:
        """The places of the axis alone."""
        return [(self.at(i), heights.place(y)) if y is not None else None for i, y in enumerate(line.heights)]

    def labels(self) -> list[str]:
        return place_labels(self.chart)


def place_labels(chart: Curves) -> list[str]:
    """All by thousands, all by 1024, or in full."""
    sizes = [place for place in chart.places if isinstance(place, int) and not isinstance(place, bool)]
    if len(sizes) < len(chart.places):
        return [str(place).lower() if isinstance(place, bool) else str(place) for place in chart.places]
    if chart.of_bytes:
        return [binary_bytes(size) if size % 1024 == 0 else decimal_bytes(size) for size in sizes]
    large = [size for size in sizes if size >= 1000]
    for base, letters in ((1000, ("k", "M", "B", "T")), (1024, ("Ki", "Mi", "Gi", "Ti"))):
        if large and max(large) >= 16 * base and all(size % base == 0 for size in large):
            return [_by(size, base, letters) for size in sizes]
    return [f"{size:,}" for size in sizes]


def _by(size: int, base: int, letters: Sequence[str]) -> str:
    power = 0
    while size and size % base == 0 and power < len(letters):
        size, power = size // base, power + 1
    return f"{size:,}{letters[power - 1] if power else ''}"
