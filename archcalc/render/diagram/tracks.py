"""Tracks beside the rows, for wires around a stretch of the main way and for what one step hands to the next; and where
wires meet boxes and circles."""

from __future__ import annotations

from archcalc.analyze.diagram.graph import Form
from archcalc.render.diagram.area import Point, Wire
from archcalc.render.diagram.rows import Hop, Rows, Slot
from archcalc.render.diagram.sizes import stacked

TRACK = 12.0  # between lines that run beside each other
NEAR_SIGN = 12.0  # where a line turns to a circle's side
ASIDE = 18.0  # between wires that enter a box from above


class Tracks:
    """A place beside the rows for each such wire; `left_of` and `right_of` are how far each row then reaches."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows.rows
        self.left_of = [min((slot.x - slot.left for slot in row), default=0.0) for row in self.rows]
        self.right_of = [max((slot.x + slot.right for slot in row), default=0.0) for row in self.rows]
        self._places: dict[tuple[Slot, Wire, bool], float] = {}
        targets: dict[tuple[Slot, Wire, bool], list[Slot]] = {}
        for hop in rows.beside:
            targets.setdefault((hop.source, hop.wire, hop.is_back), []).append(hop.target)
        spans = {key: max(abs(slot.rank - key[0].rank) for slot in reached) for key, reached in targets.items()}
        for key in sorted(targets, key=spans.__getitem__):  # the shortest nearest to the boxes
            (source, _, is_back), reached = key, targets[key]
            ranks = [slot.rank for slot in reached]
            low, high = min(source.rank + (not is_back), *ranks), max(source.rank, *ranks)
            passed, rows_of = slice(low, high + 1), [(slot, self.rows[slot.rank]) for slot in reached]
            # At the right, unless only the left sides of all targets are open.
            if all(is_box(slot) and row[0] is slot is not row[-1] for slot, row in rows_of):
                self._places[key] = x = min(self.left_of[passed]) - TRACK
                self.left_of[passed] = [x - 2] * len(self.left_of[passed])
            else:
                self._places[key] = x = max(self.right_of[passed]) + TRACK
                self.right_of[passed] = [x + 2] * len(self.right_of[passed])

    def of(self, hop: Hop) -> float:
        return self._places[hop.source, hop.wire, hop.is_back]

    def lead_to_the_side(self, hop: Hop) -> bool:
        """Whether nothing stands between the track and the box."""
        slot = hop.target
        is_left = self.of(hop) < slot.x
        return is_box(slot) and self.rows[slot.rank][0 if is_left else -1] is slot


def is_sign(slot: Slot) -> bool:
    return slot.node is not None and slot.node.form == Form.SIGN


def is_box(slot: Slot) -> bool:
    return bool(slot.area and slot.area.is_box)


def half(slot: Slot) -> float:
    if not slot.area:
        return 0.0
    return slot.area.width / 2


def bottom(slot: Slot) -> float:
    return slot.y + slot.height


def entry(rows: Rows, hop: Hop) -> float:
    """Of a wire from above: the main one at the middle of a box, others beside it on the side that they come from."""
    slot = hop.target
    if not is_box(slot) or not hop.ends:
        return slot.entry(hop.wire)
    into = [each for each in rows.hops if each.target is slot]
    # the main one comes straight, or else, of a box, is made last
    straight = [each for each in into if abs(_start(each) - slot.x) < 1]
    latest = sorted(into, key=lambda each: -each.made) if len(into) == 1 or not is_sign(slot) else []
    others = [each for each in into if each not in (straight or latest)[:1]]
    if hop not in others:
        return slot.x
    to_the_left = _start(hop) < slot.x
    same = [each for each in others if (_start(each) < slot.x) == to_the_left]
    same.sort(key=lambda each: abs(_start(each) - slot.x))
    away = step_aside(slot) * (same.index(hop) + 1)
    return slot.x - away if to_the_left else slot.x + away


def _start(hop: Hop) -> float:
    return hop.source.exit(hop.wire)


def step_aside(slot: Slot) -> float:
    return half(slot) + NEAR_SIGN if is_sign(slot) else min(ASIDE, half(slot) / 3)


def entry_from_a_track(hop: Hop) -> float:
    """From above, where the side of the target is not open."""
    if is_box(hop.target):
        return hop.target.x + step_aside(hop.target)
    return hop.target.entry(hop.wire)


def into(slot: Slot, x: float) -> list[Point]:
    """The last piece of a wire that comes down at `x`: to the top of a box, or to a circle's side."""
    if not is_sign(slot) or abs(x - slot.x) <= 1:
        return [(x, slot.y)]
    middle = slot.y + slot.height / 2
    return [(x, middle), (edge(slot, left=x < slot.x), middle)]


def edge(slot: Slot, *, left: bool) -> float:
    """The side of a box, with the copies that look out behind it."""
    if left:
        return slot.x - half(slot)
    if slot.node:
        return slot.x + half(slot) + stacked(slot.node)
    return slot.x + half(slot)
