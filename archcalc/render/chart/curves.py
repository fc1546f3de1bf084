"""Curves as a picture: a panel for each unit, labels at the ends of lines, devices as rules, crossings with numbers.

Lines differ in colour and in dashes; the label of each begins with a piece of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from math import copysign, dist
from typing import TYPE_CHECKING

from archcalc.render.chart.axis import Places, height_ticks, heights, place_labels
from archcalc.render.chart.drawing import Drawing, Point
from archcalc.render.chart.scale import Linear
from archcalc.render.inks import INK, MUTED, PAGE, RULE, dash, series
from archcalc.render.text_width import shortened, width
from archcalc.report.picture import Curves, Line, Meeting, Panel
from archcalc.spec.units import binary_bytes

if TYPE_CHECKING:
    from archcalc.analyze.plot.report import PlotReport

WIDE, MARGIN = 720, 2
ALONE, BESIDE = 340, 240  # heights of a single panel, and of each of several
TITLE, AXIS, FOOT = 26, 46, 12  # above each panel, beneath it, and beneath all
SAMPLE, GAP = 20, 6  # the piece of a line before its label
WIDEST_LABEL = 200
FAR = 20  # between a ring and its number
OFFSETS = (-14, 14, -28, 28, -42, 42, 60, 80)  # at which a number may stand above or beneath its ring
ROW = 16  # between labels
BEYOND = "1 3"  # of a line that its model is not made for
SMALL, USUAL, LARGE = 11, 12, 15
TICKS = 5


def curves(report: PlotReport, wide: float = WIDE) -> Drawing:
    """Without a title, which stands above it."""
    chart = report.curves
    high = ALONE if len(chart.panels) == 1 else BESIDE
    above, each = MARGIN / 2, TITLE + high + AXIS
    drawing = Drawing(wide, above + len(chart.panels) * each + FOOT, chart.title, chart.told)
    # The same margins in all panels, so that their places stand beneath each other.
    ticks = [label for panel in chart.panels for _, label in height_ticks(panel, heights(panel, 0, 1), TICKS)]
    left = MARGIN + max((width(label, SMALL) for label in ticks), default=0) + 10
    lines = [line.label for panel in chart.panels for line in panel.lines]
    labels = max(min(width(label, USUAL), _widest_label(wide)) for label in lines)
    right = wide - MARGIN - SAMPLE - GAP - labels - 10
    crowded = list(chart.beneath)
    for index, panel in enumerate(chart.panels):
        top = above + index * each + TITLE
        scale, places = heights(panel, top + high, top), Places.of(chart, left + 8, right - 8)
        area = _Area(drawing, chart, panel, top, top + high, left, right, scale, places)
        area.draw()
        crowded += area.crowded
    # Crossings that have no room for their numbers, as sentences beneath everything.
    for sentence in crowded:
        drawing.text(
            shortened(sentence, SMALL, drawing.width - 2 * MARGIN), MARGIN, drawing.height, size=SMALL, ink=MUTED
        )
        drawing.height += ROW
    return drawing


def lengths(report: PlotReport) -> Iterator[float | None]:
    """How far each point is above the lowest: whoever asks for curves sees however little they rise."""
    for panel in report.curves.panels:
        heights = [height for line in panel.lines for height in line.heights if height is not None]
        yield from (height - min(heights) for height in heights)
        yield from (abs(limit.height - min(heights)) for limit in panel.limits)


def _widest_label(wide: float) -> float:
    """Narrow charts leave most of their room to the curves."""
    return min(WIDEST_LABEL, wide * 0.28)


@dataclass
class _Area:
    """Where a panel is drawn."""

    drawing: Drawing
    curves: Curves
    panel: Panel
    top: float
    bottom: float
    left: float
    right: float
    scale: Linear
    places: Places
    taken: list[tuple[float, float, float, float]] = field(default_factory=list)  # boxes of words
    crowded: list[str] = field(default_factory=list)  # crossings whose numbers have no room

    def draw(self) -> None:
        if len(self.curves.panels) > 1:  # a single one is what the title says
            self.drawing.text(self.panel.title, MARGIN, self.top - 14, size=USUAL, bold=True)
        for value, label in height_ticks(self.panel, self.scale, TICKS):
            y = self.scale.place(value)
            self.drawing.line([(self.left, y), (self.right, y)], RULE)
            self.drawing.text(label, self.left - 8, y, size=SMALL, anchor="end", ink=MUTED)
        self._axis()
        self._limits()
        for line in self.panel.lines:
            self._line(line)
        for meeting in self.panel.meetings:
            self._meeting(meeting)
        self._labels()

    def _axis(self) -> None:
        """Ticks at the values that are drawn, with as many labels as there is room for."""
        self.drawing.line([(self.left, self.bottom), (self.right, self.bottom)], MUTED)
        end = 0.0
        for index, label in enumerate(place_labels(self.curves)):
            x, wide = self.places.at(index), width(label, SMALL)
            self.drawing.line([(x, self.bottom), (x, self.bottom + 4)], MUTED)
            if x - wide / 2 > end:
                self.drawing.text(label, x, self.bottom + 14, size=SMALL, anchor="middle", ink=MUTED)
                end = x + wide / 2 + 6
        middle = (self.left + self.right) / 2
        self.drawing.text(self.curves.axis, middle, self.bottom + 32, size=USUAL, anchor="middle", ink=INK)

    def _limits(self) -> None:
        """Names stand above their rules, from the left; what would cover another one's stands beneath."""
        for limit in sorted(self.panel.limits, key=lambda each: -each.height):
            y = self.scale.place(limit.height)
            self.drawing.line([(self.left, y), (self.right, y)], INK, dash="1 3")
            wide = width(limit.label, SMALL)
            tried = [(self.left + 8, y + down) for down in (-9, 9, -22, 22)]
            x, at = next((each for each in tried if self._is_free(*each, wide)), tried[0])
            self._word(limit.label, x, at, wide)

    def _word(self, text: str, x: float, y: float, wide: float) -> None:
        self.taken.append((x, y - 7, x + wide, y + 7))
        self.drawing.text(text, x, y, size=SMALL)

    def _is_free(self, x: float, y: float, wide: float) -> bool:
        inside = self.left <= x and x + wide <= self.right and self.top - 4 <= y <= self.bottom - 4
        box = (x - 3, y - 7, x + wide + 3, y + 7)
        apart = all(box[2] < a or c < box[0] or box[3] < b or d < box[1] for a, b, c, d in self.taken)
        lines = (pairwise(self.places.path(line, self.scale)) for line in self.panel.lines)
        pieces = ((start, end) for line in lines for start, end in line if start and end)
        return inside and apart and not any(_crosses(box, *piece) for piece in pieces)

    def _line(self, line: Line) -> None:
        ink, end = series(line.number), self.places.end(line)
        for is_drawn, piece in groupby(self.places.path(line, self.scale), key=bool):
            if is_drawn:  # between gaps
                points = [point for point in piece if point]
                own, beyond = [at for at in points if at[0] <= end], [at for at in points if at[0] >= end]
                for way, wide, dashes in ((own, 2.2, dash(line.number)), (beyond, 1.2, BEYOND)):
                    if len(way) > 1 or way == points:
                        self.drawing.line(way, ink, width=wide, dash=dashes)
        for index, point in enumerate(self.places.points(line, self.scale)):
            if point:
                place, height = self.curves.places[index], line.heights[index]
                where = f"{self.curves.axis} {place:,}" if isinstance(place, int) else str(place)
                hint = f"{line.label} · {where}: {height:,}"
                if self.panel.unit == "bytes":
                    hint += f" bytes ({binary_bytes(round(height or 0))})"
                self.drawing.open(hint=hint)
                self.drawing.dot(*point, 3, ink)
                if point[0] > end:
                    self.drawing.dot(*point, 1.8, PAGE)
                self.drawing.close()

    def _meeting(self, meeting: Meeting) -> None:
        """A ring, and the number beside it where it covers nothing."""
        x, y = self._ring(meeting)
        self.drawing.open(hint=meeting.told)
        self.drawing.dot(x, y, 5, INK)
        self.drawing.dot(x, y, 3, PAGE)
        wide = width(meeting.label, SMALL)
        tried = [(x + side, y + down) for down in OFFSETS for side in (-wide - 6, 8, -wide / 2, -wide - 24, 24)]
        free = next((each for each in tried if self._is_free(*each, wide) and self._is_nearest(meeting, *each)), None)
        if free:
            self._word(meeting.label, *free, wide)
            left, at = free
            if abs(at - y) > FAR:  # a thin line to a number that stands apart from its ring
                apart = copysign(6, at - y)
                self.drawing.line([(x, y + apart), (min(max(x, left), left + wide), at - apart)], MUTED, width=0.8)
        else:
            self.crowded.append(meeting.told)
        self.drawing.close()

    def _ring(self, meeting: Meeting) -> Point:
        return self.places.scale.place(meeting.place), self.scale.place(meeting.height)

    def _is_nearest(self, meeting: Meeting, x: float, y: float) -> bool:
        """Whether no other ring is nearer to a number that stands there."""
        middle = (x + width(meeting.label, SMALL) / 2, y)
        others = [self._ring(each) for each in self.panel.meetings if each is not meeting]
        return all(dist(middle, self._ring(meeting)) < dist(middle, each) for each in others)

    def _labels(self) -> None:
        """At the ends of lines, moved apart."""
        drawn = [(self.places.points(line, self.scale), line) for line in self.panel.lines]
        ends = [(next(point[1] for point in reversed(points) if point), line) for points, line in drawn]
        lowest, places = float("-inf"), []
        for end, line in sorted(ends, key=lambda each: each[0]):
            lowest = max(end, lowest + ROW)
            places.append((lowest, line))
        start, room = self.right + 4, _widest_label(self.drawing.width)
        for index, (lowest, line) in enumerate(reversed(places)):
            y = min(lowest, self.bottom - 4 - index * ROW)
            self.drawing.line([(start, y), (start + SAMPLE, y)], series(line.number), width=2.2, dash=dash(line.number))
            self.drawing.text(shortened(line.label, USUAL, room), start + SAMPLE + GAP, y)


def _crosses(box: tuple[float, float, float, float], start: Point, end: Point) -> bool:
    """Whether a straight line enters a box, tried at every few pixels."""
    (x, y), (to_x, to_y) = start, end
    steps = max(1, round(max(abs(to_x - x), abs(to_y - y)) / 4))
    spots = ((x + (to_x - x) * step / steps, y + (to_y - y) * step / steps) for step in range(steps + 1))
    return any(box[0] <= a <= box[2] and box[1] <= b <= box[3] for a, b in spots)
