"""How the children of a level are divided into columns.

Lanes: what follows from each input of the model, side by side: encoder and decoder. A fold: a way down and a way up,
where wires skip from the one to the other in nested pairs, as in a U-Net. Pages: a long chain, cut where a single wire
passes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import ceil, sqrt

from archcalc.analyze.diagram.graph import Form, Node
from archcalc.render.diagram.area import Area, Wire
from archcalc.render.diagram.level import Level, latest
from archcalc.render.diagram.rows import Rows, Slot, in_rows

TALLEST = 1100.0  # of a single column; about a page
RATIO = 1.3  # width to height that a wrapped chain aims at


@dataclass(frozen=True)
class Split:
    """Children by column. Wires enter further columns at their side, or, `at_the_top`, where each begins."""

    columns: tuple[tuple[Node, ...], ...]
    at_the_top: bool = False
    last_goes_up: bool = False

    def beginning(self, level: Level, index: int) -> frozenset[Wire]:
        """Wires that enter a column where it begins: of pages all, of a way up the one from the bottom of the fold."""
        own = set(self.columns[index])
        entering = [link for link in level.links if link.target in own and link.source not in own]
        if self.at_the_top:
            return frozenset(link.wire for link in entering)
        if not (self.last_goes_up and index):
            return frozenset()
        return frozenset(link.wire for link in sorted(entering, key=lambda link: link.made)[-1:])


def lanes(level: Level) -> Split | None:
    """By the input that each child follows from along its main wire."""
    main = latest(level.links)
    first: dict[Node, Node] = {}
    for child in level.children:
        root = child
        while root in main:
            root = main[root].source
        first[child] = root
    real = {root for child, root in first.items() if child.form not in (Form.INPUT, Form.OUTPUT)}
    real = {root for root in real if root.form == Form.INPUT}
    if len(real) < 2:
        return None
    for child in reversed(level.children):
        if first[child] not in real:
            first[child] = next((first[link.target] for link in level.links if link.source is child), first[child])
    # In the order in which something is computed from each root.
    begins = {root: min(child.order for child in first if first[child] is root and child is not root) for root in real}
    started = sorted(real, key=begins.__getitem__)
    columns = tuple(tuple(child for child in level.children if first[child] is root) for root in started)
    if not _in_one_direction(level, columns):
        return None
    return Split(columns)


def _in_one_direction(level: Level, columns: tuple[tuple[Node, ...], ...]) -> bool:
    place = {child: index for index, column in enumerate(columns) for child in column}
    if len(place) < len(level.children):
        return False
    return all(place[link.source] <= place[link.target] for link in level.links)


def _ranked(level: Level) -> Rows:
    return in_rows(level, {child: Slot(child.order) for child in level.children}, frozenset(), frozenset())


def fold(level: Level) -> Split | None:
    """Where at least two wires run beside the main way, one within the other."""
    rows = _ranked(level)
    spans = sorted({(hop.source.rank, -hop.target.rank) for hop in rows.beside if not hop.is_back})
    nested: list[tuple[int, int]] = []
    for start, end in spans:
        if nested and start > nested[-1][0] and end > nested[-1][1] and start < -end:
            nested.append((start, end))
        elif not nested or -end > -nested[-1][1]:
            nested = [(start, end)]
    if len(nested) < 2:
        return None
    start, end = nested[-1][0], -nested[-1][1]
    middle = min((start + end + 1) // 2, end - 1)
    down = tuple(child for child in level.children if rows.of[child].rank <= middle)
    up = tuple(child for child in level.children if rows.of[child].rank > middle)
    if not _in_one_direction(level, (down, up)):
        return None
    return Split((down, up), last_goes_up=True)


def pages(level: Level, whole: Area, areas: dict[Node, Area], tallest: float) -> list[Split]:
    """Ways to cut a long chain into columns of about one height, where cuts are allowed; the most columns first."""
    if whole.height <= tallest:
        return []
    rows = _ranked(level)
    rank = {child: rows.of[child].rank for child in level.children}
    last = max(rank.values())
    allowed = [each for each in range(last) if _passes_one(level, rank, each)]
    if not allowed:
        return []
    ends, y = [], 0.0  # how far down each row ends, with usual gaps
    for row in range(last + 1):
        y += max((areas[child].height for child in rank if rank[child] == row), default=0.0) + 40
        ends.append(y)
    found = []
    for number in range(ceil(sqrt(RATIO * whole.height / whole.width)), 1, -1):
        wanted = [y * each / number for each in range(1, number)]
        cuts = sorted({min(allowed, key=lambda cut: abs(ends[cut] - height)) for height in wanted})
        bounds = pairwise([-1, *cuts, last])
        columns = [tuple(child for child in level.children if low < rank[child] <= high) for low, high in bounds]
        found.append(Split(tuple(columns), at_the_top=True))
    return found


def _passes_one(level: Level, rank: dict[Node, int], cut: int) -> bool:
    """Whether a single wire passes from above the cut to below, and none enters or leaves beyond it."""
    passing = {link.wire for link in level.links if rank[link.source] <= cut < rank[link.target]}
    back = any(link.is_back and rank[link.target] <= cut < rank[link.source] for link in level.links)
    late = any(rank[target] > cut for _, target, _ in level.ins)
    early = any(rank[source] <= cut for source, _ in level.outs)
    return len(passing) == 1 and not (back or late or early)
