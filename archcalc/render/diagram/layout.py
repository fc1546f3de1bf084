"""The layout of a whole diagram: the contents of each node, then the frame around them, from the inside out."""

from __future__ import annotations

from collections.abc import Callable

from archcalc.analyze.diagram.graph import Graph, Node
from archcalc.render.diagram import splits
from archcalc.render.diagram.area import Area, Box, Line, Wire
from archcalc.render.diagram.column import Column, Ways, label_width
from archcalc.render.diagram.columns import Columns
from archcalc.render.diagram.level import Level, level
from archcalc.render.diagram.sizes import SMALL, TITLE, Text, badge_width, count, size, texts

PADDING = 14.0  # inside a frame
HEADER = 30.0  # with the frame's title
UNEVEN = 1.35  # how much taller than the mean the tallest column of a long chain may be
BETWEEN = 12.0  # of the title, and of what passes it


def layout(graph: Graph, label: Callable[[Wire], str]) -> Area:
    """Every node and every wire with its place."""
    wires = dict.fromkeys(Wire(edge.source, edge.tensor) for edge in graph.edges)
    return _Layout(graph, {wire: label(wire) for wire in wires}).contents(graph.root, frozenset(), up=False)


class _Layout:
    def __init__(self, graph: Graph, labels: dict[Wire, str]) -> None:
        self.graph, self.labels = graph, labels
        self.outs: dict[Node, list[Wire]] = {}
        for wire in labels:
            self.outs.setdefault(wire.source, []).append(wire)

    def contents(self, around: Node, side: frozenset[Wire], *, up: bool) -> Area:
        """What is inside a node; `side` wires enter at the left."""
        seen = level(around, self.graph.edges)
        lanes = None if around.parent else splits.lanes(seen)
        split = lanes or splits.fold(seen)
        areas = self._areas(seen, split or splits.Split((tuple(seen.children),)), side, up=up)
        ways = Ways(side, labels=self.labels)
        if split:
            return Columns(seen, areas, ways, split).area()
        whole = Column(seen, areas, ways).area()
        for pages in splits.pages(seen, whole, areas):
            wrapped = Columns(seen, areas, ways, pages).area()
            if wrapped.height < UNEVEN * whole.height / len(pages.columns):
                return wrapped
        return whole

    def _areas(self, seen: Level, split: splits.Split, side: frozenset[Wire], *, up: bool) -> dict[Node, Area]:
        areas = {}
        for index, children in enumerate(split.columns):
            own = set(children)
            crossing = {link.wire for link in seen.links if link.target in own and link.source not in own}
            crossing -= split.beginning(seen, index)
            turned = split.last_goes_up and index == len(split.columns) - 1
            for child in children:
                areas[child] = self._area(child, side | crossing, up=up != turned)
        return areas

    def _area(self, node: Node, side: frozenset[Wire], *, up: bool) -> Area:
        if node.children:
            return self._framed(node, self.contents(node, side, up=up), up=up)
        wide, high = size(node)
        wires = self.outs.get(node, [])
        room = [label_width(self.labels[wire]) + 8 for wire in wires]
        if len(wires) > 1:
            wide = max(wide, sum(room) + 16)
        made = Area(wide, high, [Box(node, 0, 0, wide, high)], is_box=True)
        if len(wires) == 1:
            made.bottoms = {wires[0]: wide / 2}
            return made
        x = (wide - sum(room)) / 2
        for wire, each in zip(wires, room, strict=True):
            made.bottoms[wire] = x + 8
            x += each
        return made

    def _framed(self, node: Node, inner: Area, *, up: bool) -> Area:
        """A frame with a header, in which nothing stands where a wire passes."""
        left, right = PADDING, PADDING
        title, shown = Text(texts(node)[0].text, TITLE, "title").width, badge_width(node)
        title += shown + 6 if shown else 0  # with its badge, at the left; the count is at the right
        counted = Text(count(node), SMALL, "count").width
        ports = [*inner.tops.values()]
        if ports:
            left = max(left, title + BETWEEN + PADDING - min(ports))
            right = max(right, counted + BETWEEN + PADDING - (inner.width - max(ports)))
        else:
            right = max(right, title + counted + BETWEEN + 2 * PADDING - left - inner.width)
        above, below = (PADDING, HEADER) if up else (HEADER, PADDING)
        made = Area(inner.width + left + right, inner.height + above + below)
        made.boxes = [Box(node, 0, 0, made.width, made.height)]
        made.put(inner, left, above)
        # From the edge of the frame to its contents.
        made.tops = {wire: x + left for wire, x in inner.tops.items()}
        made.bottoms = {wire: x + left for wire, x in inner.bottoms.items()}
        made.lefts = {wire: y + above for wire, y in inner.lefts.items()}
        made.lines += [Line(((x, 0), (x, above))) for x in made.tops.values()]
        made.lines += [Line(((x, above + inner.height), (x, made.height))) for x in made.bottoms.values()]
        made.lines += [Line(((0, y), (left, y))) for y in made.lefts.values()]
        return made
