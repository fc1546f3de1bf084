"""Children of a level in rows, each row below those that it reads from.

Wires between rows that do not follow each other bend around what is between them (`Slot` without a node), or, where
they go around a stretch of the main way, run beside it (`Beside`): residuals.

The order in a row follows the mean place of the neighbours in the row above or below, again and again (Sugiyama's
method): few crossings. Given the order, every row stands as near to its neighbours as its width allows, for straight
lines: the least squares of the distances under minimum gaps, by pooling adjacent violators.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise

from archcalc.analyze.diagram.graph import Form, Node
from archcalc.render.diagram.area import Area, Wire
from archcalc.render.diagram.level import Level, latest

BEND = 8.0  # room for a line between boxes, on both sides
GAP = 22.0  # between boxes in a row
BESIDE_BOX = 2.0  # between a box and the room of a line
SWEEPS = 6
SMALL_STEP = 14.0  # sideways: it looks like a mistake


@dataclass(eq=False)
class Slot:
    """A place in a row: a child, a wire that enters or leaves, or a wire that passes."""

    order: float
    left: float = BEND  # the room that it takes on both sides of its middle
    right: float = BEND
    height: float = 0.0
    area: Area | None = None
    node: Node | None = None
    rank: int = 0
    x: float = 0.0  # its middle
    y: float = 0.0  # its top

    def exit(self, wire: Wire) -> float:
        """Where a wire leaves."""
        if not self.area:
            return self.x
        return self.x + (self.area.bottoms[wire] - self.area.width / 2)

    def entry(self, wire: Wire) -> float:
        """Where a wire enters from above: a box has its middle for that."""
        if not self.area or wire not in self.area.tops:
            return self.x
        return self.x + self.area.tops[wire] - self.area.width / 2


@dataclass(frozen=True, eq=False)
class Hop:
    """A wire from one slot to another."""

    source: Slot
    target: Slot
    wire: Wire
    made: int = 0
    ends: bool = True  # at a box or a frame, not at a bend
    is_back: bool = False


Neighbours = dict[Slot, list[tuple[Slot, Hop]]]


@dataclass
class Rows:
    """`hops` go from a row to the next; `beside` around the main way."""

    rows: list[list[Slot]] = field(default_factory=list)
    hops: list[Hop] = field(default_factory=list)
    beside: list[Hop] = field(default_factory=list)
    of: dict[Node, Slot] = field(default_factory=dict)
    ins: dict[Wire, Slot] = field(default_factory=dict)
    outs: dict[Wire, Slot] = field(default_factory=dict)
    main: dict[Slot, Hop] = field(default_factory=dict)


def in_rows(level: Level, slots: dict[Node, Slot], side: frozenset[Wire], right: frozenset[Wire]) -> Rows:
    """`side` wires enter at the left and `right` wires leave at the right: they take part in no row."""
    made = Rows(of=slots)
    hops = _hops(level, made, side, right)
    made.main = latest(hops)
    _rank(made, hops)
    made.beside = [hop for hop in hops if hop.is_back or _goes_beside(hop, made.main)]
    for hop in (each for each in hops if each not in made.beside):
        source = hop.source
        for rank in range(source.rank + 1, hop.target.rank):  # from row to row, with a bend in each row between
            bend = Slot(hop.source.order + 0.5, rank=rank)
            made.hops.append(Hop(source, bend, hop.wire, hop.made, ends=False))
            source = bend
        made.hops.append(Hop(source, hop.target, hop.wire, hop.made, hop.ends))
    bends = (hop.target for hop in made.hops)
    every = dict.fromkeys([*made.ins.values(), *made.of.values(), *bends, *made.outs.values()])
    made.rows = [[] for _ in range(max((slot.rank for slot in every), default=0) + 1)]
    for slot in sorted(every, key=lambda slot: slot.order):
        made.rows[slot.rank].append(slot)
    return made


def _hops(level: Level, made: Rows, side: frozenset[Wire], right: frozenset[Wire]) -> list[Hop]:
    hops = []
    for wire, target, order in level.ins:
        if wire not in side:
            port = made.ins.setdefault(wire, Slot(order, left=4, right=4))
            hops.append(Hop(port, made.of[target], wire, order))
    for link in level.links:
        hops.append(Hop(made.of[link.source], made.of[link.target], link.wire, link.made, is_back=link.is_back))
    for source, wire in level.outs:
        if wire not in right:
            port = made.outs.setdefault(wire, Slot(made.of[source].order, left=4, right=4))
            hops.append(Hop(made.of[source], port, wire, source.order, ends=False))
    return hops


def _rank(made: Rows, hops: list[Hop]) -> None:
    """One row below the lowest that it reads; what reads nothing stands just above its reader."""
    forward = [hop for hop in hops if not hop.is_back]
    first = int(bool(made.ins) or any(hop.is_back for hop in hops))
    children = list(made.of.values())
    read = {slot: [hop.source for hop in forward if hop.target is slot] for slot in children}
    for slot in children:
        slot.rank = max((source.rank + 1 for source in read[slot]), default=first)
    for slot in reversed(children):
        readers = [hop.target for hop in forward if hop.source is slot and hop.target in read]
        if readers and not read[slot]:
            slot.rank = max(slot.rank, min(reader.rank for reader in readers) - 1)
    last = max((slot.rank for slot in children), default=0) + 1
    for slot in made.outs.values():
        slot.rank = last


def _goes_beside(hop: Hop, main: dict[Slot, Hop]) -> bool:
    """Whether it goes around a stretch of the main way to its target."""
    if hop.target.rank - hop.source.rank < 2 or main[hop.target] is hop:
        return False
    slot = hop.target
    while slot in main:
        slot = main[slot].source
        if slot is hop.source:
            return True
    return False


def arrange(made: Rows) -> None:
    """Sort every row, then place it."""
    above: Neighbours = {slot: [] for row in made.rows for slot in row}
    below: Neighbours = {slot: [] for row in made.rows for slot in row}
    for hop in made.hops:
        above[hop.target].append((hop.source, hop))
        below[hop.source].append((hop.target, hop))
    _sort(made, above, below)
    for sweep in range(SWEEPS + 1):  # down, up and down again; the last pass decides, so that chains are straight
        near, step = ((above, 1), (below, -1))[sweep % 2]
        for row in made.rows[::step]:
            _settle(row, [_wanted(slot, near[slot], down=step > 0) for slot in row])
    for row in reversed(made.rows):  # move a little what would have a straight line then, from the bottom up
        _settle(row, [_nearby(slot, [hop for _, hop in below[slot]]) for slot in row])


def _sort(made: Rows, above: Neighbours, below: Neighbours) -> None:
    best, fewest = made.rows, crossings(made.rows, made.hops)
    for sweep in range(SWEEPS):
        if not fewest:
            break
        near, step = ((above, 1), (below, -1))[sweep % 2]
        place = {slot: index for row in made.rows for index, slot in enumerate(row)}
        for row in made.rows[::step]:
            row.sort(key=lambda slot: _mean([place[other] for other, _ in near[slot]], place[slot]))
            place.update({slot: index for index, slot in enumerate(row)})
        found = crossings(made.rows, made.hops)
        if found < fewest:
            best, fewest = [list(row) for row in made.rows], found
    made.rows = best


def _mean(places: Sequence[float], otherwise: float) -> float:
    return sum(places) / len(places) if places else otherwise


def crossings(rows: list[list[Slot]], hops: list[Hop]) -> int:
    """How many pairs of lines between two rows cross."""
    place = {slot: index for row in rows for index, slot in enumerate(row)}
    ends: dict[int, list[tuple[int, int]]] = {}
    for hop in hops:
        ends.setdefault(hop.source.rank, []).append((place[hop.source], place[hop.target]))
    pairs = (pair for row in ends.values() for pair in combinations(row, 2))
    return sum((one[0] - two[0]) * (one[1] - two[1]) < 0 for one, two in pairs)


def _nearby(slot: Slot, hops: list[Hop]) -> float:
    """The place nearest to a slot where a line down from it is straight, if that is but a small step away."""
    places = [_straight(slot, hop, down=False) for hop in hops]
    nearest = min(places, key=lambda place: abs(place - slot.x), default=slot.x)
    return nearest if abs(nearest - slot.x) < SMALL_STEP else slot.x


def _straight(slot: Slot, hop: Hop, *, down: bool) -> float:
    """Where the slot would stand for a line to be straight, from above (down) or from below."""
    if down:
        return hop.source.exit(hop.wire) - (slot.entry(hop.wire) - slot.x)
    return hop.target.entry(hop.wire) - (slot.exit(hop.wire) - slot.x)


def _wanted(slot: Slot, near: list[tuple[Slot, Hop]], *, down: bool) -> float:
    """Where its lines would be straight: all of them on average, or the main one into a frame and of an even number."""
    hops = [hop for _, hop in near]
    form = slot.node.form if slot.node else None
    if down and (form == Form.FRAME or (form == Form.BOX and len(hops) % 2 == 0)):
        hops = sorted(hops, key=lambda hop: -hop.made)[:1]
    places = [_straight(slot, hop, down=down) for hop in hops]
    return _mean(places, slot.x)


def _settle(row: list[Slot], wanted: list[float]) -> None:
    """Nearest to where each wants to be, in this order and with gaps."""
    offsets = [0.0][: len(row)]
    for one, two in pairwise(row):
        offsets.append(offsets[-1] + one.right + (GAP if one.node and two.node else BESIDE_BOX) + two.left)
    pools: list[list[float]] = []  # of slots that touch: sum of wishes, number
    for wish, offset in zip(wanted, offsets, strict=True):
        pools.append([wish - offset, 1])
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] > pools[-1][0] / pools[-1][1]:
            total, number = pools.pop()
            pools[-1][0] += total
            pools[-1][1] += number
    means = [total / number for total, number in pools for _ in range(int(number))]
    for slot, offset, mean in zip(row, offsets, means, strict=True):
        slot.x = mean + offset
