"""Steps of a walk as a picture: for each its title, its tensors drawn to scale, and its formula."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from archcalc.analyze.walk.report import Row, Shown, WalkReport
from archcalc.render.chart.drawing import Drawing, Point
from archcalc.render.inks import MUTED, SERIES, Ink
from archcalc.render.text_width import shortened, width
from archcalc.render.walk.boxes import MOST, SCALE, Solid, solid

ROOM, NARROWEST = 1000.0, 640.0
LARGEST = (420.0, 240.0)  # pixels that the boxes of a step take at the most, between their names
TITLE, USUAL, SMALL = 20.0, 14.0, 12.0
GAP, LINE = 14.0, 18.0
SIGNAL, WEIGHT = SERIES[0], SERIES[1]
FILLS = {
    SIGNAL: (Ink("signal", "#d3e5f0", "#203647"), Ink("signal-back", "#b3d3e6", "#274a63")),
    WEIGHT: (Ink("weight", "#fbeccc", "#45381f"), Ink("weight-back", "#f5d999", "#5e4a20")),
}
INKS = tuple(ink for fills in FILLS.values() for ink in fills)


def lengths(report: WalkReport) -> tuple[int, ...]:
    """From nothing to the number of steps: a step is worth its picture also where all its tensors have one shape."""
    return 0, len(report.rows)


def walk(report: WalkReport, wide: float = ROOM) -> Drawing:
    """Steps beneath one another, on one scale; names take room, so that a narrower page scrolls."""
    wide = max(wide, NARROWEST)
    placed = [_Step(row, wide) for row in report.rows]
    unit = min([8.0, *(step.largest() for step in placed)])
    heights = [step.height(unit) for step in placed]
    title = f"{report.model}: {placed[0].row.title}" if len(placed) == 1 else f"{report.model}, step by step"
    told = ". ".join(step.told() for step in placed)
    made = Drawing(wide, sum(heights) + 2 * LINE, title, told)
    y = 0.0
    for step, high in zip(placed, heights, strict=True):
        step.draw(made, y, unit)
        y += high
    made.text(f"One example; {SCALE}.", 0, y + LINE, size=SMALL, ink=MUTED)
    return made


@dataclass(frozen=True)
class _Step:
    row: Row
    wide: float

    @property
    def others(self) -> tuple[Shown, ...]:
        row = self.row
        return (*row.besides[:MOST], *(() if row.pair or not row.output else (row.output,)))

    def largest(self) -> float:
        """Pixels for a side of 1 with which it has room."""
        across, down = self._product()
        beside = [solid(each.box) for each in self.others]
        names = sum(_named(each) for each in (*self.row.pair, *self.others))
        across += sum(each.width for each in beside)
        down = max([down, *(each.height for each in beside)])
        return max(min((self.wide - min(names, self.wide / 2) - 60) / max(across, 1), LARGEST[1] / max(down, 1)), 0.4)

    def _product(self) -> tuple[float, float]:
        if not (self.row.pair and self.row.output):
            return 0.0, 0.0
        first, second, result = (solid(each.box) for each in (*self.row.pair, self.row.output))
        return first.width + max(second.width, result.width), second.height + max(first.height, result.height)

    def height(self, unit: float) -> float:
        named = (solid(each.box).height * unit + 3 * LINE for each in self.others)
        return max([self._product()[1] * unit, *named]) + 2 * TITLE + 3 * LINE + 3 * GAP

    def told(self) -> str:
        made = self.row.output.words(symbolic=False) if self.row.output else ""
        return " ".join(filter(None, (self.row.title, self.row.formula, made)))

    def draw(self, made: Drawing, y: float, unit: float) -> None:
        row = self.row
        above = " › ".join(place.text for place in row.places)
        made.text(
            shortened(f"{row.number}  {row.title}", TITLE, self.wide, bold=True), 0, y + TITLE, size=TITLE, bold=True
        )
        beside = width(f"{row.number}  {row.title}", TITLE, bold=True) + GAP
        words = " · ".join(filter(None, (row.what, above)))
        made.text(shortened(words, USUAL, self.wide - beside), beside, y + TITLE + 2, size=USUAL, ink=MUTED)
        top, x = y + 2 * TITLE + GAP, 0.0
        if row.pair and row.output:
            x = self._draw_product(made, top, unit)
        for each in self.others:
            if each is row.output and x:
                made.text("→", x, top + LINE, size=TITLE, ink=MUTED)
                x += 2 * GAP + LINE
            box = solid(each.box)
            _box(made, box, x, top, unit, WEIGHT if each.path else SIGNAL)
            _names(made, each, x, top + box.height * unit + LINE)
            x += max(box.width * unit, _named(each)) + 2 * GAP
        if row.formula and row.output:
            made.text(f"{row.output.name} = {row.formula}", 0, y + self.height(unit) - 2 * LINE, size=USUAL + 2)

    def _draw_product(self, made: Drawing, y: float, unit: float) -> float:
        """The first factor beside the result, the second above it; how far to the right it goes."""
        (first, second), result = self.row.pair, self.row.output
        assert result
        one, other, out = (solid(each.box) for each in (first, second, result))
        left = _named(first) + GAP
        x, below = left + one.width * unit + GAP / 2, y + other.height * unit + GAP / 2
        _box(made, one, left, below, unit, SIGNAL)
        _names(made, first, left - GAP, below + LINE, anchor="end")
        _box(made, other, x, y, unit, WEIGHT if second.path else SIGNAL)
        _names(made, second, x + other.width * unit + GAP, y + LINE)
        _box(made, out, x, below, unit, SIGNAL)
        _names(made, result, x + out.width * unit + GAP, below + LINE)
        ends = (other.width * unit + _named(second), out.width * unit + _named(result))
        return x + max(ends) + 3 * GAP


def _named(shown: Shown) -> float:
    return max(width(text, USUAL, bold=True) for text in _words(shown))


def _words(shown: Shown) -> Iterable[str]:
    return shown.name, " × ".join(f"{size:,}" for size in shown.shape) or "1", " × ".join(shown.dims)


def _names(made: Drawing, shown: Shown, x: float, y: float, *, anchor: str = "start") -> None:
    name, sizes, dims = _words(shown)
    made.text(name, x, y, size=USUAL, anchor=anchor, bold=True)
    made.text(sizes, x, y + LINE, size=USUAL, anchor=anchor)
    made.text(dims, x, y + 2 * LINE, size=SMALL, anchor=anchor, ink=MUTED)


def _box(made: Drawing, box: Solid, x: float, y: float, unit: float, ink: Ink) -> None:
    face, back = FILLS[ink]
    for kind, points in box.areas:
        corners = [_at(point, x, y, unit) for point in points]
        made.area(corners, face if kind == "face" else back)
        made.line([*corners, corners[0]], ink)
    for line in box.lines:
        made.line([_at(point, x, y, unit) for point in line], ink)


def _at(point: Point, x: float, y: float, unit: float) -> Point:
    return x + point[0] * unit, y + point[1] * unit
