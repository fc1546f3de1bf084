"""Where a curve passes the memory of a device, or another curve: solved on whole numbers, not read off the drawing.

Between two points of the chart the last whole number on the one side is searched for, and proven by its neighbour on
the other side: both are computed as any point is. Where sizes between are refused, the two points are all that is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor

from archcalc.analyze.fit.solve import Curve
from archcalc.analyze.plot.measures import Number
from archcalc.core.errors import InputError

Height = Callable[[int], Number | None]  # a curve; None where it has a gap


@dataclass(frozen=True)
class Crossing:
    """Up to `last` it is on one side, from `next` on on the other; `solved` if these are neighbours."""

    last: int
    next: int
    rises: bool  # passes what it meets from below
    at_last: Number
    at_next: Number

    @property
    def solved(self) -> bool:
        return self.next == self.last + 1


def crossings(curve: Height, other: Height, places: Sequence[int], *, is_searched: bool = True) -> Iterator[Crossing]:
    """Every change of sides between places that are drawn; where numbers between are dear, they are not searched."""

    def above(place: int) -> Number | None:
        here, there = curve(place), other(place)
        return None if here is None or there is None else here - there

    sides = [(place, height) for place in places if (height := above(place))]
    for (left, before), (right, after) in pairwise(sides):
        if (before > 0) != (after > 0):
            rises = after > 0
            last, first = _searched(above, left, right, rises=rises) if is_searched else (left, right)
            here, there = curve(last), curve(first)
            assert here is not None and there is not None
            yield Crossing(last, first, rises, here, there)


def _searched(above: Height, left: int, right: int, *, rises: bool) -> tuple[int, int]:
    """Neighbours of which the first is still on the side of `left`; the two places where one between is refused."""
    sign = 1 if rises else -1

    def needed(place: int) -> int:
        found = above(place)
        if found is None:
            raise InputError("a gap")
        return sign * (ceil(found) if found > 0 else floor(found))  # a whole number with the same sign

    line = Curve(needed)
    try:
        line.at(left)
        last = line.largest(0 if rises else -1, right)  # what is equal to a limit fits, be it behind that or before
    except InputError:
        return left, right
    return last, last + 1
