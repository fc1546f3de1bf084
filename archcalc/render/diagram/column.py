"""A level as one column: its rows beneath each other, and the wires between them in right angles."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from archcalc.analyze.diagram.graph import Node
from archcalc.render.diagram.area import Area, Label, Line, Point, Wire
from archcalc.render.diagram.level import Level
from archcalc.render.diagram.rows import Slot, arrange, in_rows
from archcalc.render.diagram.sizes import SMALL, stacked
from archcalc.render.diagram.tracks import (
    TRACK,
    Tracks,
    bottom,
    edge,
    entry,
    entry_from_a_track,
    half,
    into,
    is_box,
    step_aside,
)
from archcalc.render.text_width import width

BESIDE_LINE = 6.0  # from a line to its label
SIDE_BY_SIDE = 10.0  # between wires that enter a box at its side
ARROW = 16.0  # straight down to an arrow's head
APART = 9.0  # between lines in a channel
START = 8.0  # of the first line in it, and with labels
LABEL = 20.0
END = 4.0  # below the last row


@dataclass(frozen=True)
class Ways:
    """How wires come and go: `side` enter at the left, `right` leave at the right, and what is written beside them."""

    side: frozenset[Wire] = frozenset()
    right: frozenset[Wire] = frozenset()
    labels: dict[Wire, str] = field(default_factory=dict)
    lowered: dict[Node, float] = field(default_factory=dict)  # children with more room above them


def label_width(text: str) -> float:
    if not text:
        return 0.0
    return width(text, SMALL) + BESIDE_LINE + 4


@dataclass(eq=False)
class Run:
    """The horizontal piece of a wire: from its leftmost to its rightmost corner."""

    xs: list[float] = field(default_factory=list)
    y: float = 0.0


@dataclass(eq=False)
class Channel:
    """The room between two rows, in which the horizontal pieces of wires run."""

    top: float = 0.0
    has_labels: bool = False
    runs: dict[Any, Run] = field(default_factory=dict)

    def run(self, key: Any) -> Run:
        return self.runs.setdefault(key, Run())

    def settle(self, *, is_last: bool, is_edge: bool) -> float:
        """Give every run its height, and return that of the channel: less below the last row, and where wires leave."""
        first = self.top + (LABEL if self.has_labels else START)
        levels: list[list[Run]] = []
        bent = (run for run in self.runs.values() if max(run.xs) - min(run.xs) >= 0.5)
        for run in sorted(bent, key=lambda run: min(run.xs)):
            level = next((level for level in levels if all(_apart(run, other) for other in level)), None)
            if level is None:
                levels.append(level := [])
            level.append(run)
        for index, level in enumerate(levels):
            for run in level:
                run.y = first + index * APART
        for run in self.runs.values():
            run.y = run.y or first
        if not levels and (is_last or is_edge):
            return LABEL * self.has_labels
        return first - self.top + max(0, len(levels) - 1) * APART + (END if is_last or is_edge else ARROW)


def _apart(one: Run, two: Run) -> bool:
    return max(one.xs) + APART < min(two.xs) or max(two.xs) + APART < min(one.xs)


class Column:
    """Its children are drawn as `areas`."""

    def __init__(self, level: Level, areas: dict[Node, Area], ways: Ways) -> None:
        self.areas, self.ways = areas, ways
        self.shown = {wire: text for wire, text in ways.labels.items() if wire in level.inner}
        self.rows = in_rows(level, {child: self._slot(child) for child in level.children}, ways.side, ways.right)
        for wire, slot in self.rows.outs.items():  # a label that stands outside needs its room there too
            slot.right = max(slot.right, label_width(self.ways.labels.get(wire, "")))
        arrange(self.rows)
        self.tracks = Tracks(self.rows)
        self.sides = [(wire, self.rows.of[target]) for wire, target, _ in level.ins if wire in ways.side]
        self.leaving = [(self.rows.of[source], wire) for source, wire in level.outs if wire in ways.right]
        starts = [(slot, wire) for slot in self.rows.of.values() if slot.area for wire in slot.area.bottoms]
        self.labelled = [(slot, wire) for slot, wire in starts if self.shown.get(wire)]  # read at this level
        entering = [wire for wire, _ in self.sides]
        self.shared = [wire for wire in dict.fromkeys(entering) if entering.count(wire) > 1]  # by several children
        # room for wires that enter at the left: for arrows' heads, and a way to several boxes for each of them
        trunks = TRACK * (len(self.shared) + 1) + BESIDE_LINE if self.sides else 0.0
        self.left = min(self.tracks.left_of, default=0.0) - trunks
        self.right = max(self.tracks.right_of, default=0.0)
        self.channels = [Channel() for _ in self.rows.rows]
        self.lines: list[Line] = []
        self.labels: list[Label] = []
        self.lefts: dict[Wire, float] = {}
        self.rights: dict[Wire, float] = {}

    def _slot(self, child: Node) -> Slot:
        area = self.areas[child]
        half = area.width / 2
        exits = [x - half + label_width(self.shown.get(wire, "")) for wire, x in area.bottoms.items()]
        return Slot(child.order, half, max([half + stacked(child), *exits]), area.height, area, child)

    def area(self) -> Area:
        self._collect_runs()
        y = 0.0
        for row, channel in zip(self.rows.rows, self.channels, strict=True):
            tall = max((slot.height for slot in row), default=0.0)
            y += max((self.ways.lowered.get(slot.node, 0.0) for slot in row if slot.node), default=0.0)
            for slot in row:
                slot.y = y + (tall - slot.height) / 2
            channel.top = y + tall
            is_last = channel is self.channels[-1]
            is_edge = bool(self.rows.outs) and row is self.rows.rows[-2]  # in the row below wires leave
            y = channel.top + channel.settle(is_last=is_last, is_edge=is_edge)
        self._draw_hops()
        self._draw_beside()
        self._draw_sides()
        for slot, wire in self.leaving:
            start, level = slot.exit(wire), self._run(slot, wire).y
            self._line([(start, bottom(slot)), (start, level), (self.right, level)])
            self.rights[wire] = level
        return self._finished(y)

    # Horizontal pieces, in the channels between rows.

    def _collect_runs(self) -> None:
        for hop in self.rows.hops:
            self._run(hop.source, hop.wire).xs += [hop.source.exit(hop.wire), entry(self.rows, hop)]
        for hop in self.rows.beside:
            self._run(hop.source, hop.wire).xs += [hop.source.exit(hop.wire), self.tracks.of(hop)]
            if not self.tracks.lead_to_the_side(hop):
                arrival = self.channels[hop.target.rank - 1].run((hop.target, hop.wire))
                arrival.xs += [self.tracks.of(hop), entry_from_a_track(hop)]
        for slot, wire in self.leaving:
            self._run(slot, wire).xs += [slot.exit(wire), self.right]
        for wire, slot in self.sides:
            if not self._is_open_at_the_left(slot):
                self.channels[slot.rank - 1].run(wire).xs += [self.left, self._side_entry(slot)]
        for slot, _ in self.labelled:
            self.channels[slot.rank].has_labels = True

    def _run(self, source: Slot, wire: Wire) -> Run:
        return self.channels[source.rank].run((source, wire))

    def _is_open_at_the_left(self, slot: Slot) -> bool:
        """Nothing stands between it and the left edge; above the first row there is no channel to come through."""
        return slot.rank == 0 or self.rows.rows[slot.rank][0] is slot

    def _side_entry(self, slot: Slot) -> float:
        """Where a wire from the left comes down to a slot: to the top of a box, or before a frame."""
        if is_box(slot):
            return slot.x - step_aside(slot)
        return slot.x - half(slot) - TRACK

    # Lines.

    def _draw_hops(self) -> None:
        for hop in self.rows.hops:
            start, end = hop.source.exit(hop.wire), entry(self.rows, hop)
            level = self._run(hop.source, hop.wire).y
            points = [(start, bottom(hop.source)), (start, level), (end, level)]
            points += into(hop.target, end) if hop.ends else [(end, hop.target.y)]
            self._line(points, arrow=is_box(hop.target))
        for slot, wire in self.labelled:
            x, text = slot.exit(wire) + BESIDE_LINE, self.shown[wire]
            self.labels.append(Label(text, x, self.channels[slot.rank].top + 11, width(text, SMALL)))

    def _draw_beside(self) -> None:
        for hop in self.rows.beside:
            start, track = hop.source.exit(hop.wire), self.tracks.of(hop)
            level = self._run(hop.source, hop.wire).y
            points = [(start, bottom(hop.source)), (start, level), (track, level)]
            slot = hop.target
            if self.tracks.lead_to_the_side(hop):
                middle = slot.y + slot.height / 2
                points += [(track, middle), (edge(slot, left=track < slot.x), middle)]
            else:
                x, arrival = entry_from_a_track(hop), self.channels[slot.rank - 1].run((slot, hop.wire)).y
                points += [(track, arrival), (x, arrival)]
                points += into(slot, x)
            self._line(points, arrow=is_box(slot), dashed=hop.is_back)

    def _draw_sides(self) -> None:
        """From the left edge straight to the box, or over the row and down to it; several times from one trunk."""
        starts: dict[Wire, list[float]] = {}
        trunks = {wire: self.left + TRACK * place for place, wire in enumerate(self.shared, start=1)}
        for wire, slot in self.sides:
            start, points = self._from_the_side(wire, slot)
            self._line([(trunks.get(wire, self.left), start), *points], arrow=is_box(slot))
            starts.setdefault(wire, []).append(start)
        for wire, places in starts.items():
            self.lefts[wire] = min(places)
            if wire in trunks:
                self._line([(self.left, min(places)), (trunks[wire], min(places)), (trunks[wire], max(places))])

    def _from_the_side(self, wire: Wire, slot: Slot) -> tuple[float, list[Point]]:
        """At which height it starts, and its further points."""
        assert slot.area
        left = edge(slot, left=True)
        if slot.area.is_box:  # at the middle, several beneath each other
            wires = [each for each, target in self.sides if target is slot]
            y = slot.y + slot.height / 2 + SIDE_BY_SIDE * (wires.index(wire) - (len(wires) - 1) / 2)
        else:
            y = slot.y + slot.area.lefts[wire]
        if self._is_open_at_the_left(slot):
            return y, [(left, y)]
        start, x = self.channels[slot.rank - 1].run(wire).y, self._side_entry(slot)
        down = [(x, slot.y)] if slot.area.is_box else [(x, y), (left, y)]
        return start, [(x, start), *down]

    def _line(self, points: list[Point], *, arrow: bool = False, dashed: bool = False) -> None:
        self.lines.append(Line(tuple(points), arrow, dashed))

    def _finished(self, height: float) -> Area:
        made = Area(self.right - self.left, height)
        inner = Area(0, 0, lines=self.lines, labels=self.labels)
        made.put(inner, -self.left, 0)
        for slot in self.rows.of.values():
            if slot.area:
                made.put(slot.area, slot.x - slot.area.width / 2 - self.left, slot.y)
        made.tops = {wire: slot.x - self.left for wire, slot in self.rows.ins.items()}
        made.bottoms = {wire: slot.x - self.left for wire, slot in self.rows.outs.items()}
        made.lefts, made.rights = self.lefts, self.rights
        return made
