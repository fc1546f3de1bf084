"""Where the parameters are: the model at the left, its parts to the right of it, their heights in proportion.

Every cell is a group that can be focused and says what it is (`data-path`, `data-title`, `data-count`, `data-share`,
`data-working`) and where it stands (`data-level`, and from `data-from` to `data-to` of the whole height), so that a
page can zoom into it. Colours are those of diagrams.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from archcalc.analyze.diagram.graph import PartKind
from archcalc.analyze.params import ParamsReport
from archcalc.render.chart import legend
from archcalc.render.chart.drawing import Drawing, Marks
from archcalc.render.chart.icicle_cells import Cell, cells
from archcalc.render.chart.legend import Entry
from archcalc.render.diagram.palette import COLOURS
from archcalc.render.inks import MUTED, Ink
from archcalc.render.text_width import shortened, width
from archcalc.report.units import words
from archcalc.spec.units import rounded

WIDTH, HEIGHT = 860.0, 460.0
LEVELS = 5  # columns that are seen at once
SIZE, SMALL = 11.5, 10.5
ROOM = 7.0  # beside a text
LINE = 16.0
LOW = 13.0  # a cell with room for one line
THIN = 4.0  # a cell that its edge would fill
TALL = 34.0  # a cell with room for two lines
_UNNAMED = (PartKind.STACK, PartKind.OTHER)


class Place(NamedTuple):
    """A cell in the picture: its column, and from where to where of the height it stands."""

    cell: Cell
    level: int
    start: float
    end: float


def icicle(report: ParamsReport, wide: float = WIDTH) -> Drawing:
    found = cells(report)
    whole = found.whole
    used = {cell.kind for cell in whole.walk()}
    kinds = (kind for kind in PartKind if kind in used and kind not in _UNNAMED)
    names = {**{kind: str(kind) for kind in kinds}, PartKind.STACK: "parts of several kinds"}
    entries = [Entry(inks(kind)[0], words, inks(kind)[1]) for kind, words in names.items() if kind in used]
    keys = legend.placed(entries, 0, HEIGHT + 24, wide)
    title = f"{report.model}: {report.total:,} parameters by part"
    parts = ", ".join(f"{child.title} {child.total:,}" for child in whole.children)
    rest = f" {found.left_out:,} smaller parts are not drawn one by one." if found.left_out else ""
    described = f"Cells inside cells; the height of each is its share of the parameters. {parts}.{rest}"
    drawing = Drawing(wide, HEIGHT + 12 + legend.height(keys), title, described)
    drawing.role = "tree"
    columns = min(whole.depth, LEVELS)
    for place in places(whole):
        _draw(drawing, place, wide / columns, columns, report.total)
    legend.draw(drawing, keys)
    return drawing


def places(cell: Cell, level: int = 0, before: int = 0, whole: int = 0) -> Iterator[Place]:
    """Every cell, those around it before it."""
    whole = whole or cell.total or 1
    yield Place(cell, level, before / whole, (before + cell.total) / whole)
    for child in cell.children:
        yield from places(child, level + 1, before, whole)
        before += child.total


def inks(kind: PartKind) -> tuple[Ink, Ink]:
    """A cell's colour, and that of its edge."""
    name, colour = kind.name.lower().replace("_", "-"), COLOURS[kind]
    return Ink(name, colour.light, colour.dark), Ink(f"{name}-edge", colour.light_edge, colour.dark_edge)


def _draw(drawing: Drawing, place: Place, wide: float, columns: int, total: int) -> None:
    cell, is_seen = place.cell, place.level < columns
    share = words(cell.total / total if total else 0.0, "share")
    # One cell is reached by the tab key; a page leads from it to the others.
    marks: dict[str, str | int] = {"role": "treeitem", "tabindex": -1 if place.level else 0}
    marks |= {"data-path": cell.path, "data-title": cell.title}
    marks |= {"data-count": f"{cell.total:,}", "data-short": rounded(cell.total)}
    if cell.working:
        marks["data-working"] = cell.working
    marks |= {"data-level": place.level, "data-from": f"{place.start:.7f}", "data-to": f"{place.end:.7f}"}
    marks["data-share"] = share
    if not is_seen:
        marks["display"] = "none"
    drawing.open(hint=f"{cell.title}: {cell.total:,} parameters, {share}", marks=marks)
    x, y, high = place.level * wide, place.start * HEIGHT, (place.end - place.start) * HEIGHT
    fill, edge = inks(cell.kind)
    body = (x + 1, y + 0.5, wide - 2, max(high - 1, 0.5))
    thin: Marks = {"stroke-width": 0} if high < THIN else {}
    drawing.rectangle(*body, fill, edge=edge, radius=2, marks=thin)
    if is_seen:
        _label(drawing, cell, x, y, wide, high)
    drawing.close()


def _label(drawing: Drawing, cell: Cell, x: float, y: float, wide: float, high: float) -> None:
    """The name, and the count beside or beneath it, where there is room."""
    if high < LOW:
        return
    size, room = rounded(cell.total), wide - 2 * ROOM
    beside = width(f"{cell.title}   ", SIZE) + width(size, SMALL) <= room
    middle = y + high / 2
    if beside or high < TALL:
        drawing.text(shortened(cell.title, SIZE, room), x + ROOM, middle, size=SIZE)
        if beside:
            drawing.text(size, x + wide - ROOM, middle, size=SMALL, anchor="end", ink=MUTED)
        return
    drawing.text(shortened(cell.title, SIZE, room), x + ROOM, middle - LINE / 2, size=SIZE)
    drawing.text(size, x + ROOM, middle + LINE / 2, size=SMALL, ink=MUTED)
