"""The layout of a whole diagram: the contents of each node, then the frame around them, from the inside out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from archcalc.analyze.diagram.graph import Graph, Node
from archcalc.render.diagram import splits
from archcalc.render.diagram.area import Area, Box, Line, Point, Wire
from archcalc.render.diagram.column import Column, Ways, label_width
from archcalc.render.diagram.level import Level, level, part
from archcalc.render.diagram.sizes import SMALL, TITLE, Text, badge_width, count, size, texts
from archcalc.render.diagram.splits import Split
from archcalc.render.diagram.tracks import TRACK

PADDING = 14.0  # inside a frame
HEADER = 30.0  # with the frame's title
UNEVEN = 1.35  # how much taller than the mean the tallest column of a long chain may be
BETWEEN = 12.0  # of the title, and of what passes it
GUTTER = 30.0
CHANNEL = 18.0  # above or below the columns
LIFT = 26.0  # how much higher a way up begins than the way down ends


def layout(graph: Graph, label: Callable[[Wire], str], tallest: float = splits.TALLEST) -> Area:
    """Every node and every wire with its place; chains higher than `tallest` are cut into columns."""
    wires = dict.fromkeys(Wire(edge.source, edge.tensor) for edge in graph.edges)
    return _Layout(graph, {wire: label(wire) for wire in wires}, tallest).contents(graph.root, frozenset(), up=False)


class _Layout:
    def __init__(self, graph: Graph, labels: dict[Wire, str], tallest: float) -> None:
        self.graph, self.labels, self.tallest = graph, labels, tallest
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
        for pages in splits.pages(seen, whole, areas, self.tallest):
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


@dataclass
class Columns:
    """Side by side, and the wires from one to another in the gutters between them."""

    level: Level
    areas: dict[Node, Area]
    ways: Ways
    split: Split

    def __post_init__(self) -> None:
        self.parts = [part(self.level, children) for children in self.split.columns]
        outside = {wire for wire, _, _ in self.level.ins}
        entering = [dict.fromkeys(wire for wire, _, _ in each.ins if wire not in outside) for each in self.parts]
        self.crossing = [list(wires) for wires in entering]  # that other columns make and each reads
        self.made = [self._column(index) for index in range(len(self.parts))]
        if self.split.last_goes_up:
            down, up = self._facing()
            self.made = [self._column(0, down), self._column(1, up)]
        self.lines: list[Line] = []

    def _column(self, index: int, lowered: dict[Node, float] | None = None) -> Area:
        beginning = self.split.beginning(self.level, index)
        side = self.ways.side | frozenset(wire for wire in self.crossing[index] if wire not in beginning)
        goes_up = self.split.last_goes_up and index == len(self.parts) - 1
        leaving = {wire for _, wire in self.parts[index].outs}
        if not goes_up:  # then those alone that further columns read
            leaving &= {wire for entering in self.crossing[index + 1 :] for wire in entering}
        ways = replace(self.ways, side=side, right=self.ways.right | leaving, lowered=lowered or {})
        made = Column(self.parts[index], self.areas, ways).area()
        return made.flipped() if goes_up else made

    def _facing(self) -> tuple[dict[Node, float], dict[Node, float]]:
        """Room for children of both ways, so that each reader faces what it reads: from the bottom of the fold up."""
        down, up = self.made
        for_down: dict[Node, float] = {}
        for_up: dict[Node, float] = {}
        readers = {wire: target for wire, target, _ in reversed(self.parts[1].ins)}
        for wire in sorted(up.lefts, key=lambda wire: -up.lefts[wire]):
            made_at = down.height - down.rights[wire] + sum(for_down.values())
            read_at = LIFT + up.height - up.lefts[wire] + sum(for_up.values())
            if made_at > read_at:
                for_up[readers[wire]] = for_up.get(readers[wire], 0.0) + made_at - read_at
            elif after := next((link.target for link in self.parts[0].links if link.wire == wire), None):
                for_down[after] = for_down.get(after, 0.0) + read_at - made_at
        return for_down, for_up

    def area(self) -> Area:
        places = self._places()
        ends = [(x + made.width, y + made.height) for (x, y), made in zip(places, self.made, strict=True)]
        whole = Area(max(x for x, _ in ends), max(y for _, y in ends))
        for index, (made, (dx, dy)) in enumerate(zip(self.made, places, strict=True)):
            whole.put(made, dx, dy)
            # From the columns that make them, through the gutter before this one.
            for number, wire in enumerate(self.crossing[index]):
                source = next(each for each in range(index) if wire in self.made[each].rights)
                start = places[source][0] + self.made[source].width
                leaves = places[source][1] + self.made[source].rights[wire]
                gutter = places[index][0] - GUTTER / 2 - TRACK * number
                way = [(start, leaves)]
                if source < index - 1:  # under the columns between
                    below = max(places[each][1] + self.made[each].height for each in range(source, index))
                    turn, leaves = start + GUTTER / 2, below + CHANNEL + TRACK * number
                    whole.height = max(whole.height, leaves)
                    way += [(turn, way[0][1]), (turn, leaves)]
                self.lines.append(Line((*way, *self._into(index, wire, (gutter, leaves), places[index]))))
        for index, place in enumerate(places):
            self._take_ports(whole, index, place)
        # What leaves a level at the end of a way up goes down beside it.
        for wire in {wire for _, wire in self.level.outs} - set(whole.bottoms) - set(whole.rights):
            made, (dx, dy) = self.made[-1], places[-1]
            whole.width += TRACK
            x, y = whole.width - TRACK / 2, dy + made.rights[wire]
            self.lines.append(Line(((dx + made.width, y), (x, y), (x, whole.height))))
            whole.bottoms[wire] = x
        whole.lines += self.lines
        return whole

    def _places(self) -> list[Point]:
        """From left to right, with a gutter before each column; a way up ends below where the way down does."""
        above = CHANNEL if self.split.at_the_top else 0.0
        places: list[Point] = []
        x = 0.0
        for index, made in enumerate(self.made):
            if index:
                x += GUTTER + TRACK * len(self.crossing[index])
            places.append((x, above))
            x += made.width
        if not self.split.last_goes_up:
            return places
        higher = self.made[0].height - LIFT - self.made[1].height
        return [(0.0, max(0.0, -higher)), (places[1][0], max(0.0, higher))]

    def _take_ports(self, whole: Area, index: int, place: Point) -> None:
        """Wires from and to the outside of the level."""
        made, crossing, (dx, dy) = self.made[index], set(self.crossing[index]), place
        for wire, port in made.tops.items():
            if wire not in crossing:
                whole.tops[wire] = port + dx
                if dy:
                    self.lines.append(Line(((port + dx, 0.0), (port + dx, dy))))
        for wire, port in made.bottoms.items():
            whole.bottoms[wire] = port + dx
            self.lines.append(Line(((port + dx, dy + made.height), (port + dx, whole.height))))
        for wire, y in made.lefts.items():
            if wire not in crossing:
                whole.lefts[wire] = y + dy
                self.lines.append(Line(((0.0, y + dy), (dx, y + dy))))
        for wire, y in made.rights.items():
            if wire in self.ways.right:
                whole.rights[wire] = y + dy
                self.lines.append(Line(((dx + made.width, y + dy), (whole.width, y + dy))))

    def _into(self, index: int, wire: Wire, turn: Point, place: Point) -> list[Point]:
        """From the gutter to the side of a column, or to where it begins."""
        gutter, leaves = turn
        made, (dx, dy) = self.made[index], place
        if wire in made.lefts:
            y = dy + made.lefts[wire]
            return [(gutter, leaves), (gutter, y), (dx, y)]
        x = dx + made.tops[wire]
        if self.split.last_goes_up:
            return [(x, leaves), (x, dy + made.height)]
        return [(gutter, leaves), (gutter, CHANNEL / 2), (x, CHANNEL / 2), (x, dy)]
