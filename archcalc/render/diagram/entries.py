"""Where wires meet boxes and circles."""

from __future__ import annotations

from archcalc.analyze.diagram.graph import Form
from archcalc.render.diagram.area import Point
from archcalc.render.diagram.rows import Hop, Rows, Slot
from archcalc.render.diagram.sizes import stacked

NEAR_SIGN = 12.0  # where a line turns to a circle's side
ASIDE = 18.0  # between wires that enter a box from above


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
