"""Panels of a chart: lines of one unit together, equal ones as one, with the devices' memory and where lines cross.

Crossings are solved on whole numbers, not read off the drawing. Between two points of the chart the last whole number
on the one side is searched for, and proven by its neighbour on the other side: both are computed as any point is. Where
sizes between are refused, the two points are all that is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import ceil, floor

from archcalc.analyze.fit.solve import Curve
from archcalc.analyze.plot.axes import Scales
from archcalc.analyze.plot.curves import MOST, Family
from archcalc.analyze.plot.drawn import Drawn, are_straight, refine
from archcalc.analyze.plot.subject import MEMORY, Measure
from archcalc.core.errors import InputError
from archcalc.core.words import enumeration
from archcalc.report.picture import Limit, Line, Meeting, Number, Panel

WIDE = 50  # times: an axis that starts at 0 shows nothing of what is so much lower than the highest
Height = Callable[[int], Number | None]  # a curve; None where it has a gap


@dataclass(frozen=True)
class Met:
    """A crossing, and what meets what; none where a line is on one side of a limit from end to end."""

    line: Drawn
    other: str
    is_device: bool
    crossing: Crossing | None
    brief: str  # `bf16 fits on rtx-4090 up to`
    is_alike: bool = True  # both are the same measure

    @property
    def at_last(self) -> bool:
        """Whether it is told by the last number before the crossing: what fits up to there."""
        return bool(self.crossing and self.crossing.rises and self.is_device)

    @property
    def numbers(self) -> tuple[Number | None, ...]:
        """The place, the height there, and that on the other side."""
        found = self.crossing
        if not found:
            return None, None, None
        if self.at_last:
            return found.last, found.at_last, found.at_next
        return found.next, found.at_next, found.at_last

    @property
    def told(self) -> str:
        """The whole sentence."""
        place, until = self.numbers[0], self.line.until
        if place is None:
            return self.brief
        beyond = f", longer than the model's {until:,}" if until and place > until else ""
        return f"{self.brief} {self.line.families[0].x.name} {place:,}{beyond}"


def grouped(families: Sequence[Family]) -> list[tuple[str, list[Drawn]]]:
    """Lines by the panel that they stand in: one for each unit; for each measure where that would be too many."""
    measures = families[0].measures
    units = {one.unit: [each for each in measures if each.unit == one.unit] for one in measures}
    found = []
    for listed in units.values():
        together = _lines(families, listed)
        split = [listed] if len(together) <= MOST else [[one] for one in listed]
        found += [(enumeration(one.title for one in each), _lines(families, each)) for each in split]
    return found


def _lines(families: Sequence[Family], measures: Sequence[Measure]) -> list[Drawn]:
    return [line for one in measures for line in _of_measure(families, one, alone=len(measures) == 1)]


def _of_measure(families: Sequence[Family], measure: Measure, *, alone: bool) -> Iterator[Drawn]:
    """Values of `--by` that change nothing share a line."""
    by_heights: dict[tuple[object, ...], list[Family]] = {}
    for one in families:
        heights = tuple(one.value(measure, place) for place in one.x.values)
        by_heights.setdefault((one.subject.label, heights), []).append(one)
    for same in by_heights.values():
        of_model = [one for one in families if one.subject.label == same[0].subject.label]
        words, named = [*same[0].subject.words], [one.told for one in same if one.by is not None]
        if named and not len(same) == len(of_model) > 1:  # a label says what makes a difference
            words.append(", ".join(named))
        if not (alone and words):
            words.append(measure.title)
        yield Drawn(" · ".join(words), measure, tuple(same))


def panels(
    drawn: Sequence[tuple[str, list[Drawn]]], limits: Sequence[Limit], scales: Scales, *, log_x: bool
) -> tuple[tuple[Panel, ...], tuple[Met, ...]]:
    """All panels, and every crossing in them."""
    made, met, numbers, asked = [], [], dict[object, int](), scales.wanted("y")
    for title, lines in drawn:
        log = _is_wide(lines) and not are_straight(lines) if asked is None else asked
        refine(lines, log_x=log_x, log_y=log)
        for line in lines:
            numbers.setdefault(_identity(line, lines), len(numbers))
        own = limits if any(line.measure.name == MEMORY for line in lines) else ()
        found = list(_met(lines, own))
        met += found
        made.append(
            Panel(
                title=title,
                unit=lines[0].measure.unit,
                lines=tuple(
                    Line(line.label, numbers[_identity(line, lines)], line.heights, line.path, line.until)
                    for line in lines
                ),
                limits=tuple(own),
                meetings=tuple(_meeting(one, one.crossing) for one in found if one.crossing),
                log=log,
            )
        )
    return tuple(made), tuple(met)


def _identity(line: Drawn, lines: Sequence[Drawn]) -> object:
    """What has one colour in every panel: a model and a value of `--by`, the first time that a panel has them."""
    same = tuple((one.subject.label, one.by) for one in line.families)
    return same if line.measure is lines[0].measure else (same, line.measure.name)


def _is_wide(lines: Sequence[Drawn]) -> bool:
    """Whether some line is so much lower than another, or every line goes so far."""
    ranges = [[height for height in line.heights if height is not None] for line in lines]
    lows, highs = [min(each) for each in ranges], [max(each) for each in ranges]
    far = all(high > WIDE * low for low, high in zip(lows, highs, strict=True))
    return min(lows) > 0 and (far or max(highs) > WIDE * min(highs))


def _meeting(met: Met, crossing: Crossing) -> Meeting:
    place, height = (crossing.last, crossing.at_last) if met.at_last else (crossing.next, crossing.at_next)
    return Meeting(place, height, f"{place:,}", met.told)


def _met(lines: Sequence[Drawn], limits: Sequence[Limit]) -> Iterator[Met]:
    """Of each line with the devices, then of lines with each other; none where the axis has names."""
    if not lines[0].families[0].x.numeric:
        return
    for line in lines:
        if line.measure.name == MEMORY:
            yield from (met for limit in limits for met in _with_limit(line, limit))
    for one, other in (pair for pair in combinations(lines, 2) if pair[0].compares_with(pair[1])):
        dear = one.is_dear or other.is_dear
        for found in crossings(one.at, other.at, _places(one), is_searched=not dear):
            more = "more" if found.rises else "less"
            told = f"{one.label} is {more} than {other.label} {_from(found)}"
            yield Met(one, other.label, False, found, told, is_alike=one.measure is other.measure)


def _with_limit(line: Drawn, limit: Limit) -> Iterator[Met]:
    x = line.families[0].x
    found = list(crossings(line.at, lambda place: limit.height, _places(line)))
    for each in found:
        where = _from(each)
        if each.rises:
            where = "up to" if each.solved else "up to at least"
        yield Met(line, limit.name, True, each, f"{line.label} fits on {limit.name} {where}")
    if not found:
        fits = max(height for height in line.heights if height is not None) <= limit.height
        where = f"at every {x.name} drawn" if fits else "at none"
        yield Met(line, limit.name, True, None, f"{line.label} fits on {limit.name} {where}")


def _from(found: Crossing) -> str:
    return "from" if found.solved else "from at most"


def _places(line: Drawn) -> list[int]:
    return [place for place in line.families[0].x.values if isinstance(place, int)]


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
