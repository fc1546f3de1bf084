"""A line of a chart: whether it is straight, and as many points as it takes to be drawn as the curve that it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from math import log, sqrt

from archcalc.analyze.plot.curves import Family
from archcalc.analyze.plot.subject import MEMORY, Measure
from archcalc.report.picture import Number
from archcalc.spec.sizes import Sizes

SIZES = frozenset(one.name for one in fields(Sizes))  # options whose values have others between them
HALVINGS = 4  # of what lies between two places
SEEN = 1 / 250  # of the height of a picture: a bend that is smaller is not seen


@dataclass(frozen=True)
class Drawn:
    """A line: one measure of a family, and of those that are equal to it."""

    label: str
    measure: Measure
    families: tuple[Family, ...]

    @property
    def is_dear(self) -> bool:
        """Memory of training: the allocator is simulated over two steps for every number, and in leaps and bounds, so
        that two curves may cross there again and again."""
        return self.measure.name == MEMORY and self.families[0].subject.mode("memory") == "train"

    @property
    def until(self) -> int | None:
        """The last place that the model is made for, where the axis goes on beyond it."""
        family = self.families[0]
        longest = family.subject.longest(family.x.option) if family.x.numeric else None
        return (
            longest
            if longest and any(isinstance(place, int) and place > longest for place in family.x.values)
            else None
        )

    @property
    def heights(self) -> tuple[Number | None, ...]:
        return tuple(self.at(place) for place in self.families[0].x.values)

    @property
    def path(self) -> tuple[tuple[int, Number | None], ...]:
        """With every number that a crossing was searched at."""
        family = self.families[0]
        if not family.x.numeric:
            return tuple(enumerate(self.heights))
        computed = [(place, self.at(place)) for place in family.found if isinstance(place, int)]
        return tuple(sorted(each for each in computed if each[1] is not None or each[0] in family.x.values))

    def at(self, place: int | str) -> Number | None:
        return self.families[0].value(self.measure, place)

    def compares_with(self, other: Drawn) -> bool:
        """The same measure of two questions, or two parts of the memory of one: nothing else is more or less."""
        are_parts = self.measure.is_part_of_memory and other.measure.is_part_of_memory
        same_question = any(one is each for one in self.families for each in other.families)
        return self.measure is other.measure or (are_parts and same_question)

    @property
    def is_straight(self) -> bool:
        """Whether it rises by the same from one number of the axis to the next, exactly."""
        places = [(x, y) for x, y in zip(self.families[0].x.values, self.heights, strict=True) if y is not None]
        numbers = [(x, y) for x, y in places if isinstance(x, int)]
        slopes = [(right - left, after - before) for (left, before), (right, after) in pairwise(numbers)]
        return all(one[1] * two[0] == two[1] * one[0] for one, two in pairwise(slopes))


def are_straight(lines: Sequence[Drawn]) -> bool:
    return all(line.is_straight for line in lines)


def refine(lines: Sequence[Drawn], *, log_x: bool, log_y: bool) -> None:
    """Compute what lies between two places where the curve is not what a straight line between them would show."""
    up = log if log_y else float
    heights = [up(height) for line in lines for height in line.heights if height is not None]
    least = (max(heights) - min(heights)) * SEEN
    for line in lines:
        family = line.families[0]
        is_drawn_so = line.is_straight and not (log_x or log_y)
        if is_drawn_so or not family.x.numeric or family.x.option not in SIZES or line.is_dear:
            continue
        places = sorted({place for place in (*family.x.values, line.until) if isinstance(place, int)})
        shown = _Shown(line, log if log_x else float, up, least)
        for left, right in pairwise(places):
            shown.bend(left, right, HALVINGS)


@dataclass(frozen=True)
class _Shown:
    """A line on its axes."""

    line: Drawn
    across: Callable[[float], float]
    up: Callable[[float], float]
    least: float  # bend that is seen

    def bend(self, left: int, right: int, halvings: int) -> None:
        """Halve it until nothing bends any more."""
        middle = round(sqrt(left * right)) if self.across is log else (left + right) // 2
        ends = [self.line.at(place) for place in (left, middle, right)]
        if not halvings or not left < middle < right or None in ends:
            return
        before, here, after = (self.up(height) for height in ends if height is not None)
        share = (self.across(middle) - self.across(left)) / (self.across(right) - self.across(left))
        if abs(here - before - share * (after - before)) > self.least:
            self.bend(left, middle, halvings - 1)
            self.bend(middle, right, halvings - 1)
