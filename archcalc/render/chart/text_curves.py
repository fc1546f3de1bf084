"""Curves in a terminal: a panel of braille lines with ticks, marks for the points, and labels at the ends of lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from archcalc.core.visible import visible
from archcalc.render import cells
from archcalc.render.chart.axis import Places, height_ticks, heights, place_labels
from archcalc.render.chart.scale import Linear
from archcalc.render.style import BOLD, DIM, painted, styled
from archcalc.report.picture import Curves, Limit, Line, Panel

ALONE, BESIDE = 16, 11  # rows of a single panel, and of each of several
NARROW = 30  # columns of a panel: below that labels stand beneath it
CROSSED = "╳"
Labels = list[tuple[int, str, int]]  # row, words, colour
GLYPHS = "●○■□▲△◆◇"  # the points of curves, told apart without colour
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # of a character, by row and column (Unicode braille)
BLANK = 0x2800
RULE = "╌"
PLAIN = -1  # the colour of what belongs to no curve


def in_text(chart: Curves, width: int) -> list[str]:
    rows = ALONE if len(chart.panels) == 1 else BESIDE
    drawn = [["", *_panel(chart, panel, width, rows)] for panel in chart.panels]
    return [line for lines in drawn for line in lines][1:]


def _panel(chart: Curves, panel: Panel, width: int, rows: int) -> Iterator[str]:
    scale = heights(panel, rows * 4 - 1, 0)
    ticks = {round(scale.place(value)) // 4: label for value, label in height_ticks(panel, scale, rows // 3)}
    left = max(map(len, ticks.values()), default=0)
    right = max((cells.width(visible(line.label)) + 3 for line in panel.lines), default=0)
    beside = width - left - 2 - right >= NARROW
    wide = max(width - left - 2 - right * beside, 2)
    canvas, places = Canvas(wide, rows), Places.of(chart, 1, wide * 2 - 2)
    labels = _drawn(canvas, panel, places, scale)
    ends = {row: painted(words, number) for row, words, number in _apart(labels, rows) if beside}
    if len(chart.panels) > 1:  # a single one is what the title says
        yield styled(visible(panel.title), BOLD)
    for row in range(rows):
        mark = "┤" if row in ticks else "│"
        yield f"{ticks.get(row, ''):>{left}} {styled(mark, DIM)}{canvas.row(row)} {ends.get(row, '')}".rstrip()
    yield from _beneath(chart, places, left, wide, width)
    if not beside:
        yield from (painted(cells.cut(words, width), number) for _, words, number in labels)


def _drawn(canvas: Canvas, panel: Panel, places: Places, scale: Linear) -> Labels:
    """The panel on the canvas; where each line ends, for its label."""
    labels: Labels = []
    for line in panel.lines:
        points = places.points(line, scale)
        for start, end in pairwise(places.path(line, scale)):
            if start and end and end[0] <= places.end(line) + 0.5:
                canvas.line(start, end, line.number)
        for point in points:
            if point:
                canvas.glyph(*point, _glyph(line), line.number)
        last = next(point for point in reversed(points) if point)
        labels.append((canvas.cell(*last)[0], f"{_glyph(line)} {visible(line.label)}", line.number))
    for meeting in panel.meetings:
        canvas.glyph(places.scale.place(meeting.place), scale.place(meeting.height), CROSSED)
    # A rule for each device, with its name where the rule is free for long enough; devices of one row share it.
    by_row: dict[int, list[Limit]] = {}
    for limit in panel.limits:
        canvas.rule(scale.place(limit.height))
        by_row.setdefault(canvas.cell(0, scale.place(limit.height))[0], []).append(limit)
    for row, limits in by_row.items():
        whole, short = (
            ", ".join(map(visible, each)) for each in zip(*((one.label, one.name) for one in limits), strict=True)
        )
        for at, words in (
            (row, f" {whole} "),
            (row - 1, whole),
            (row + 1, whole),
            (row, f" {short} "),
            (row - 1, short),
        ):
            if any(canvas.write(at, column, words) for column in range(1, canvas.wide - len(words))):
                break
    _labelled(canvas, panel, places, scale)
    return labels


def _glyph(line: Line) -> str:
    return GLYPHS[line.number % len(GLYPHS)]


def _labelled(canvas: Canvas, panel: Panel, places: Places, scale: Linear) -> None:
    """The numbers of crossings beside them, where there is room; all of them stand in the table."""
    for meeting in panel.meetings:
        row, column = canvas.cell(places.scale.place(meeting.place), scale.place(meeting.height))
        size = len(meeting.label)
        before, behind = column - size, column + 2
        tried = [(row + down, start) for down in (-1, 1) for start in (before, behind)]
        _ = any(canvas.write(*place, meeting.label) for place in tried)


def _apart(labels: Labels, rows: int) -> Labels:
    """Each on a row of its own, as near to its line's end as the others leave it."""
    placed: Labels = []
    taken = -1
    for row, words, number in sorted(labels):
        taken = max(row, taken + 1)
        placed.append((taken, words, number))
    return [(min(row, rows - 1 - at), words, number) for at, (row, words, number) in enumerate(reversed(placed))]


def _beneath(chart: Curves, places: Places, left: int, wide: int, width: int) -> Iterator[str]:
    """The axis, its ticks and its name."""
    yield f"{'':>{left}} {styled('└' + '─' * wide, DIM)}"
    taken, shown = -1, [" "] * wide
    labels = place_labels(chart)
    for index, label in enumerate(labels):
        middle = round(places.at(index)) // 2
        # The first and the last always, others where they leave these their room.
        fits = middle + len(label) // 2 + 1 < wide - len(labels[-1]) - 1
        start = max(0, min(middle - len(label) // 2, wide - len(label)))
        if start > taken and (fits or index in (0, len(labels) - 1)):
            shown[start : start + len(label)] = visible(label)
            taken = start + len(label)
    text, name = "".join(shown).rstrip(), visible(chart.axis)
    room = width - left - 2
    if len(text) + 2 + cells.width(name) <= room:
        yield f"{'':>{left + 2}}{text}  {styled(name, DIM)}"
        return
    yield f"{'':>{left + 2}}{text}"
    yield f"{'':>{left + 2}}{styled(cells.cut(name, room).center(wide).rstrip(), DIM)}"


@dataclass
class Canvas:
    """Lines in braille dots, two by four in a character, and glyphs over them: `wide` × `high` characters; dots are
    counted from the upper left."""

    wide: int
    high: int
    dots: dict[tuple[int, int], int] = field(default_factory=dict)
    owner: dict[tuple[int, int], int] = field(default_factory=dict)
    over: dict[tuple[int, int], tuple[str, int]] = field(default_factory=dict)  # glyphs and their colours

    def line(self, start: tuple[float, float], end: tuple[float, float], number: int) -> None:
        """A dot at every step along the longer side."""
        (x, y), (to_x, to_y) = start, end
        steps = max(1, round(max(abs(to_x - x), abs(to_y - y))))
        for step in range(steps + 1):
            column, row = round(x + (to_x - x) * step / steps), round(y + (to_y - y) * step / steps)
            cell = (row // 4, column // 2)
            if 0 <= cell[0] < self.high and 0 <= cell[1] < self.wide:
                self.dots[cell] = self.dots.get(cell, 0) | DOTS[row % 4][column % 2]
                self.owner[cell] = number

    def glyph(self, x: float, y: float, glyph: str, number: int = PLAIN) -> None:
        """At the character that holds this dot."""
        self.over[self.cell(x, y)] = (glyph, number)

    def cell(self, x: float, y: float) -> tuple[int, int]:
        row, column = round(y) // 4, round(x) // 2
        return min(max(row, 0), self.high - 1), min(max(column, 0), self.wide - 1)

    def rule(self, y: float) -> None:
        """A horizontal line behind everything."""
        row, _ = self.cell(0, y)
        for column in range(self.wide):
            if self.is_free(row, column):
                self.over[(row, column)] = (RULE, PLAIN)

    def is_free(self, row: int, column: int) -> bool:
        inside = 0 <= row < self.high and 0 <= column < self.wide
        return inside and (row, column) not in self.dots and self.over.get((row, column), (RULE,))[0] == RULE

    def write(self, row: int, column: int, text: str) -> bool:
        """Words where there is room for them, and a blank around; whether there was."""
        if not all(self.is_free(row, place) for place in range(column - 1, column + len(text) + 1)):
            return False
        self.over |= {(row, column + offset): (letter, PLAIN) for offset, letter in enumerate(text)}
        return True

    def row(self, row: int) -> str:
        shown = ""
        for cell in ((row, column) for column in range(self.wide)):
            drawn = (chr(BLANK + self.dots[cell]), self.owner[cell]) if cell in self.dots else (" ", PLAIN)
            glyph, number = self.over.get(cell, drawn)
            if number != PLAIN:
                glyph = painted(glyph, number)
            elif glyph == RULE:
                glyph = styled(glyph, DIM)
            shown += glyph
        return shown
