"""Curves in a terminal: a panel of braille lines with ticks, marks for the points, and labels at the ends of lines."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from archcalc.core.visible import visible
from archcalc.render import cells
from archcalc.render.chart.axis import Places, height_ticks, heights, place_labels
from archcalc.render.chart.canvas import GLYPHS, Canvas
from archcalc.render.chart.scale import Linear
from archcalc.render.style import BOLD, DIM, painted, styled
from archcalc.report.picture import Curves, Line, Panel

ALONE, BESIDE = 16, 11  # rows of a single panel, and of each of several
NARROW = 30  # columns of a panel: below that labels stand beneath it
CROSSED = "╳"
Labels = list[tuple[int, str, int]]  # row, words, colour


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
            if start and end:
                canvas.line(start, end, line.number)
        for point in points:
            if point:
                canvas.glyph(*point, _glyph(line), line.number)
        last = next(point for point in reversed(points) if point)
        labels.append((canvas.cell(*last)[0], f"{_glyph(line)} {visible(line.label)}", line.number))
    for meeting in panel.meetings:
        canvas.glyph(places.scale.place(meeting.place), scale.place(meeting.height), CROSSED)
    # A rule for each device, with its name where the rule is free for long enough; devices of one row share it.
    by_row: dict[int, list[str]] = {}
    for limit in panel.limits:
        canvas.rule(scale.place(limit.height))
        by_row.setdefault(canvas.cell(0, scale.place(limit.height))[0], []).append(visible(limit.label))
    for row, names in by_row.items():
        text = f" {', '.join(names)} "
        for at, words in ((row, text), (row - 1, text.strip()), (row, f" {names[0]} "), (row + 1, text.strip())):
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
