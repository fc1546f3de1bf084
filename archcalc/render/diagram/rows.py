"""Children of a level in rows, each row below those that it reads from.

Wires between rows that do not follow each other bend around what is between them (`Slot` without a node), or, where
they go around a stretch of the main way, run beside it (`Beside`): residuals.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from archcalc.analyze.diagram.graph import Node
from archcalc.render.diagram.area import Area, Wire
from archcalc.render.diagram.level import Level, latest

BEND = 8.0  # room for a line between boxes, on both sides


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
