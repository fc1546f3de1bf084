"""The parameters of a model as cells inside cells, few enough for a picture: the largest ones, and in each the rest as
one cell."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from archcalc.analyze.diagram.graph import PartKind
from archcalc.analyze.diagram.kinds import of_parts, of_weight
from archcalc.analyze.params import ParamsReport
from archcalc.analyze.params_rows import Row

MOST = 110  # cells of a picture, besides those that stand for the rest


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


def cells(report: ParamsReport, most: int = MOST) -> Cells:
    """The largest, every one of them with what is around it."""
    whole = _tree(report)
    all_parts = len(list(whole.walk()))
    order, kept = count(), {whole}
    waiting = [(-child.total, next(order), child) for child in whole.children]
    heapq.heapify(waiting)
    while waiting and len(kept) < most:
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
    """A layer is not divided into its weight and its bias; in place of what is all of a part, its contents stand."""
    for child in cell.children:
        _tidy(child)
    if all(child.is_tensor for child in cell.children):
        cell.children = []
    if len(cell.children) == 1 and cell.children[0].times == 1:
        cell.children = cell.children[0].children


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
