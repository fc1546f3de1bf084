"""Where the parameters are: the model at the left, its parts to the right of it, their heights in proportion.

Every cell is a group that can be focused and says what it is (`data-path`, `data-title`, `data-count`, `data-share`,
`data-working`) and where it stands (`data-level`, and from `data-from` to `data-to` of the whole height), so that a
page can zoom into it. Colours are those of diagrams.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

from archcalc.analyze.diagram.graph import PartKind
from archcalc.analyze.diagram.kinds import of_parts, of_weight
from archcalc.analyze.params import ParamsReport, Row
from archcalc.render.chart import legend
from archcalc.render.chart.drawing import Drawing, Marks
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
NEARLY_ALL = 0.99  # of a part: a column of its own would show the same again
MOST = 110  # cells of a picture, besides those that stand for the rest


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


def lengths(report: ParamsReport) -> Iterator[int]:
    """The parts that have no parts."""
    return (cell.total for cell in cells(report).whole.walk() if not cell.children)


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


@dataclass(eq=False)
class Cell:
    """A part of the model. Its children come to as much as it has itself, or it has none."""

    path: str
    title: str
    total: int
    kind: PartKind = PartKind.OTHER
    working: str = ""
    is_tensor: bool = False
    times: int = 1  # copies of it in the part around it
    children: list[Cell] = field(default_factory=list)

    def walk(self) -> Iterator[Cell]:
        yield self
        for child in self.children:
            yield from child.walk()

    @property
    def depth(self) -> int:
        """Levels of cells, its own among them."""
        return 1 + max((child.depth for child in self.children), default=0)


@dataclass(frozen=True)
class Cells:
    """The model, and how many parts of it have no cell of their own."""

    whole: Cell
    left_out: int


def cells(report: ParamsReport) -> Cells:
    """Few enough for a picture: the largest, every one of them with what is around it, and in each the rest as one."""
    whole = _tree(report)
    all_parts = len(list(whole.walk()))
    order, kept = count(), {whole}
    waiting = [(-child.total, next(order), child) for child in whole.children]
    heapq.heapify(waiting)
    while waiting and len(kept) < MOST:
        _, _, cell = heapq.heappop(waiting)
        kept.add(cell)
        for child in cell.children:
            heapq.heappush(waiting, (-child.total, next(order), child))
    _sum_up(whole, kept)
    return Cells(whole, all_parts - len(kept))


def _tree(report: ParamsReport) -> Cell:
    first, *rows = report.rows
    whole = _cell(first, report)
    whole.title = report.model
    around = [("", whole)]  # modules, each with what the paths of its contents begin with
    kinds: dict[Cell, set[PartKind]] = {whole: set()}  # of the weights in each of them
    for row in rows:
        if row.kind == "part" or not row.total:
            continue
        while not row.path.startswith(around[-1][0]):
            around.pop()
        made = _cell(row, report)
        around[-1][1].children.append(made)
        if row.role is None:
            kinds[made] = set()
            around.append((f"{row.path}.", made))
        else:
            for _, module in around:
                kinds[module].add(of_weight(row.role, row.group))
    _colour(whole, kinds)
    for child in whole.children:
        _tidy(child)
    return whole


def _colour(cell: Cell, kinds: dict[Cell, set[PartKind]]) -> None:
    """A module by the weights in it, and its own tensors as it."""
    cell.kind = of_parts(kinds[cell])
    for child in cell.children:
        if child.is_tensor:
            child.kind = cell.kind
        else:
            _colour(child, kinds)


def _cell(row: Row, report: ParamsReport) -> Cell:
    title = f"{row.title} × {row.times:,}" if row.times > 1 else row.title
    working, is_tensor = row.each.worked(names=report.names), row.kind == "tensor"
    if row.repeat != 1:  # for all copies of it
        working = f"{row.repeat:,} × ({working})" if " + " in working else f"{row.repeat:,} × {working}"
    return Cell(row.path, title, int(row.total), working=working, is_tensor=is_tensor, times=row.times)


def _tidy(cell: Cell) -> None:
    """A layer is not divided into its weight and its bias; in place of what is all of a part, or all that can be seen
    of it, its contents stand: `decoder · block × 32`."""
    for child in cell.children:
        _tidy(child)
    if all(child.is_tensor for child in cell.children):
        cell.children = []
    if not cell.children:
        return
    largest = max(cell.children, key=lambda child: child.total)
    if len(cell.children) == 1 and largest.times == 1:
        cell.children = largest.children
    elif largest.children and largest.total >= NEARLY_ALL * cell.total:
        cell.title += f" · {largest.title}"
        place = cell.children.index(largest)
        cell.children[place : place + 1] = largest.children


def _sum_up(cell: Cell, kept: set[Cell]) -> None:
    """What is not kept is one cell at the end; where nothing is kept, the cell around it says all."""
    shown = [child for child in cell.children if child in kept]
    rest = [child for child in cell.children if child not in kept]
    cell.children = shown
    for child in shown:
        _sum_up(child, kept)
    if shown and rest:
        kinds = {child.kind for child in rest}
        kind = kinds.pop() if len(kinds) == 1 else PartKind.STACK
        title = rest[0].title if len(rest) == 1 else f"{len(rest):,} smaller parts"
        cell.children.append(Cell(f"{cell.path} …", title, sum(child.total for child in rest), kind))
