"""Which places of the input each place of a map depends on, along one side: the extent from the first to the last.

Every map is taken to go on at its ends, as textbooks do. Neighbours then see alike up to a period: behind a layer that
makes a map twice as long, places of even and of odd number may see unlike extents, and so on for every such layer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import gcd, lcm

from archcalc.core.windows import Along

Extent = tuple[int, int]  # the first and the last place of the input


@dataclass(frozen=True)
class Field:
    """The extent of each place of a period (none where it depends on no place); the next period's lies `shift` behind.

    Without a shift all places see the same.
    """

    shift: int
    seen: tuple[Extent | None, ...]

    @property
    def period(self) -> int:
        return len(self.seen)

    def at(self, place: int) -> Extent | None:
        turns, phase = divmod(place, self.period)
        return _moved(self.seen[phase], turns * self.shift, turns * self.shift)

    def held(self, places: range) -> Field:
        """Every place sees what all of these see together."""
        return Field(0, (self._over(places),))

    def through(self, window: Along) -> Field:
        """Behind a layer that moves this window over the map."""
        turns = self._turns(window)
        shift = window.step.numerator * turns // self.period * self.shift
        places = range(window.step.denominator * turns)
        return Field(shift, tuple(self._over(window.sees(place)) for place in places))

    def effort(self, window: Along) -> int:
        """How many places are looked at for that."""
        return window.step.denominator * self._turns(window) * (1 if self._is_ordered else self.period)

    def _turns(self, window: Along) -> int:
        """Periods of the window until one of the map's begins with one of them."""
        return self.period // gcd(self.period, window.step.numerator)

    def joined(self, other: Field) -> Field:
        """Where both are read, place by place; both move on at one pace."""
        places = range(lcm(self.period, other.period))
        shift = len(places) // self.period * self.shift
        return Field(shift, tuple(_hull((self.at(place), other.at(place))) for place in places))

    def moves_like(self, other: Field) -> bool:
        return self.shift * other.period == other.shift * self.period

    def covers(self, other: Extent | None) -> bool:
        """Whether every place sees all of it."""
        return all(extent == _hull((extent, other)) for extent in self.seen)

    def grown(self, before: int, after: int) -> Field:
        return Field(self.shift, tuple(_moved(extent, -before, after) for extent in self.seen))

    def growth(self, later: Field) -> Extent | None:
        """By how much every place sees more in front and behind; nothing where that differs from place to place."""
        if (self.shift, self.period) != (later.shift, later.period):
            return None
        pairs = list(zip(self.seen, later.seen, strict=True))
        if any((one is None) != (two is None) for one, two in pairs):
            return None
        found = {(one[0] - two[0], two[1] - one[1]) for one, two in pairs if one and two} or {(0, 0)}
        return found.pop() if len(found) == 1 else None

    def sizes(self, places: int) -> Extent:
        """The fewest and the most places from the first to the last, over all places of a map."""
        found = [extent[1] - extent[0] + 1 if extent else 0 for extent in self.seen[:places]]
        return min(found), max(found)

    def _over(self, places: range) -> Extent | None:
        """Of places at equal distances: those of one phase see further the further they are, so that ends count."""
        apart = self.period // gcd(self.period, places.step)
        ends = 1 if self._is_ordered else apart
        return _hull(self.at(place) for place in (*places[:ends], *places[-ends:]))

    @cached_property
    def _is_ordered(self) -> bool:
        """No place sees anything before what its neighbour in front sees, nor less far."""
        pairs = [(self.at(place), self.at(place + 1)) for place in range(self.period)]
        return all(one and two and one[0] <= two[0] and one[1] <= two[1] for one, two in pairs)


ITSELF = Field(1, ((0, 0),))


def _moved(extent: Extent | None, first: int, last: int) -> Extent | None:
    return extent and (extent[0] + first, extent[1] + last)


def _hull(extents: Iterable[Extent | None]) -> Extent | None:
    found = [extent for extent in extents if extent]
    return (min(first for first, _ in found), max(last for _, last in found)) if found else None
