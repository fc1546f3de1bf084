"""Peak bytes at any size, interpolated from simulations of a step at five sizes.

A tensor's bytes are a product of sizes, so every change of a step is a polynomial of the batch, or of a length, of
degree two at the most. Three sizes give the polynomials and two more must confirm each of them; neighbours are among
the five, so that what grows by pages shows, and so are the ends of the range, so that a window within it shows. Where
they do not confirm it, or where the changes are others, there is no such step and every size is simulated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import isqrt
from typing import NamedTuple

from archcalc.analyze.memory.peak import Peak
from archcalc.analyze.memory.simulated import Simulated
from archcalc.simulate.events import Change, Event

PATIENCE = 4  # sizes that are simulated before polynomials are worth their five: a straight line needs no more


class Bytes:
    """Bytes by size, each simulated until so many are asked for that polynomials are cheaper."""

    def __init__(self, peak_at: Callable[[int], Peak], least: int, most: int) -> None:
        self.peak_at, self.least, self.most = peak_at, least, most
        self.asked = 0
        self.polynomial: Step | None = None

    def __call__(self, size: int) -> int:
        self.asked += 1
        if self.asked == PATIENCE + 1:
            self.polynomial = fitted(lambda each: self.peak_at(each).step, self.least, self.most)
        inside = self.least <= size <= self.most
        return self.polynomial.peak(size) if self.polynomial and inside else self.peak_at(size).bytes


class Polynomial(NamedTuple):
    """(a + b·n + c·n²) / 2: through whole numbers, halves are all that can be left."""

    a: int
    b: int
    c: int

    def at(self, size: int) -> int:
        return (self.a + self.b * size + self.c * size * size) // 2


class Step(NamedTuple):
    """A step of which every number is a polynomial."""

    start: Polynomial
    changes: Sequence[Polynomial | Repeat]

    def peak(self, size: int) -> int:
        start = self.start.at(size)
        _, most = _played(self.changes, size, start)
        return max(start, most)


class Repeat(NamedTuple):
    """Changes that happen so many times in a row."""

    times: Polynomial
    changes: Sequence[Polynomial | Repeat]


def _played(changes: Sequence[Polynomial | Repeat], size: int, level: int) -> tuple[int, int]:
    """The level after the changes, and the highest on the way. Levels change evenly from one time to the next."""
    most = 0
    for one in changes:
        if isinstance(one, Polynomial):
            level += one.at(size)
            most = max(most, level)
            continue
        after, first = _played(one.changes, size, level)
        rest = (one.times.at(size) - 1) * (after - level)
        most = max(most, first, first + rest)
        level = after + rest
    return level, most


def fitted(simulated: Callable[[int], Simulated], least: int, most: int) -> Step | None:
    """The step between two sizes, if the five that are simulated agree on it."""
    middle = isqrt(least * most)
    sizes = (least, least + 1, middle, middle + 1, most)
    if len(set(sizes)) < len(sizes) or middle <= least + 1:
        return None
    steps = [simulated(size) for size in sizes]
    if len({_outline(step.changes) for step in steps}) > 1:
        return None
    numbers = list(zip(*(tuple(_numbers(step)) for step in steps), strict=True))
    known = {found: _polynomial(sizes, found) for found in set(numbers)}  # many are equal
    polynomials = [one for found in numbers if (one := known[found])]
    if len(polynomials) < len(numbers):
        return None
    start, *rest = polynomials
    return Step(start, _changes(steps[0].changes, iter(rest)))


def _outline(changes: Sequence[Event]) -> tuple[object, ...]:
    """The order of allocations and frees, without their sizes."""
    return tuple(one.part if isinstance(one, Change) else _outline(one.changes) for one in changes)


def _numbers(step: Simulated) -> Iterator[int]:
    yield sum(step.start.values())
    yield from _bytes(step.changes)


def _bytes(changes: Sequence[Event]) -> Iterator[int]:
    for one in changes:
        if isinstance(one, Change):
            yield one.bytes
        else:
            yield one.times
            yield from _bytes(one.changes)


def _changes(changes: Sequence[Event], polynomials: Iterator[Polynomial]) -> list[Polynomial | Repeat]:
    """The changes again, with polynomials in the place of numbers."""
    found: list[Polynomial | Repeat] = []
    for one in changes:
        own = next(polynomials)
        found.append(own if isinstance(one, Change) else Repeat(own, _changes(one.changes, polynomials)))
    return found


def _polynomial(sizes: Sequence[int], numbers: Sequence[int]) -> Polynomial | None:
    """Through the first, the middle and the last; None where the other two do not lie on it."""
    (x, _, y, _, z), (at_x, _, at_y, _, at_z) = sizes, numbers
    slope = Fraction(at_y - at_x, y - x)
    bend = (Fraction(at_z - at_y, z - y) - slope) / (z - x)
    doubled = (2 * (at_x - slope * x + bend * x * y), 2 * (slope - bend * (x + y)), 2 * bend)
    if any(value.denominator != 1 for value in map(Fraction, doubled)):
        return None
    found = Polynomial(*map(int, doubled))
    return found if [found.at(size) for size in sizes] == list(numbers) else None
