"""The order of slots in each row, and where each stands: few crossings, straight lines.

The order follows the mean place of the neighbours in the row above or below, again and again (Sugiyama's method).
Given the order, every row stands as near to its neighbours as its width allows: the least squares of the distances
under minimum gaps, by pooling adjacent violators.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

from archcalc.analyze.diagram.graph import Form
from archcalc.render.diagram.rows import Hop, Rows, Slot

GAP = 22.0  # between boxes in a row
BESIDE_BOX = 2.0  # between a box and the room of a line
SWEEPS = 6
SMALL_STEP = 14.0  # sideways: it looks like a mistake
Neighbours = dict[Slot, list[tuple[Slot, Hop]]]


def arrange(made: Rows) -> None:
    """Sort every row, then place it."""
    above: Neighbours = {slot: [] for row in made.rows for slot in row}
    below: Neighbours = {slot: [] for row in made.rows for slot in row}
    for hop in made.hops:
        above[hop.target].append((hop.source, hop))
        below[hop.source].append((hop.target, hop))
    _sort(made, above, below)
    _place(made, above, below)


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


def _place(made: Rows, above: Neighbours, below: Neighbours) -> None:
    """Down, up and down again; the last pass decides, so that chains are straight."""
    for sweep in range(SWEEPS + 1):
        near, step = ((above, 1), (below, -1))[sweep % 2]
        for row in made.rows[::step]:
            _settle(row, [_wanted(slot, near[slot], down=step > 0) for slot in row])
    for row in reversed(made.rows):  # move a little what would have a straight line then, from the bottom up
        _settle(row, [_nearby(slot, [hop for _, hop in below[slot]]) for slot in row])


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
