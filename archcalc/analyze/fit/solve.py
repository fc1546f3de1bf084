"""The largest size that still fits, found exactly: for a function of whole numbers that never falls.

    curve = Curve(needed)
    curve.largest(available, most)      the largest n from 1 to most with needed(n) <= available; 0 if there is none

Memory is a polynomial of the batch and of the length, or the largest of several such, so that a parabola through three
known points lands at the answer or close to it: a handful of evaluations, where halving would take dozens. Whatever
the function, each answer is proven by its two neighbours: n fits, n + 1 does not.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import count
from math import floor, isqrt

UNBOUNDED = 10**12  # a size that no machine reaches: what fits there has no bound
GUESSES = 6
SCANNED = 8  # numbers that are tried one by one
MANY = 8  # times as many GPUs hold next to nothing of what is divided among them,
LITTLE = Fraction(15, 16)  # so that even more of them need hardly less


class Curve:
    """A function that never falls, with all that is known of it: one device's answer helps the next."""

    def __init__(self, needed: Callable[[int], int]) -> None:
        self.needed = needed
        self.known: dict[int, int] = {}

    def at(self, size: int) -> int:
        """Evaluated once."""
        if size not in self.known:
            self.known[size] = self.needed(size)
        return self.known[size]

    def largest(self, available: int, most: int = UNBOUNDED) -> int:
        if self.at(1) > available:
            return 0
        if self.at(most) <= available:
            return most
        return self.last(available)

    def last(self, available: int) -> int:
        """The same, where some size is known that fits, and a larger one that does not."""
        for step in count():
            low = max(size for size, need in self.known.items() if need <= available)
            high = min(size for size, need in self.known.items() if need > available)
            if high == low + 1:
                break
            if step >= GUESSES:  # no polynomial: halve, on the scale of its digits
                self.at(min(max(isqrt(low * high), low + 1), high - 1))
                continue
            guess = self._guess(available, low, high)
            self.at(guess + 1 if self.at(guess) <= available else guess - 1)
        return low

    def _guess(self, available: int, low: int, high: int) -> int:
        """The largest size between that fits a parabola through both and the point nearest to them."""
        near = sorted((size for size in self.known if size not in (low, high)), key=lambda size: abs(size - low))
        parabola, least, most = self._parabola([low, high, *near[:1]]), low + 1, high - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if parabola(middle) <= available else (low, middle)
        return min(max(low, least), most)

    def _parabola(self, sizes: list[int]) -> Callable[[int], Fraction]:
        """Newton's polynomial through two or three points."""
        first, second, *third = sizes
        slope = self._slope(first, second)
        bend = (self._slope(second, third[0]) - slope) / (third[0] - first) if third else Fraction(0)
        return lambda size: self.at(first) + slope * (size - first) + bend * (size - first) * (size - second)

    def _slope(self, left: int, right: int) -> Fraction:
        return Fraction(self.at(right) - self.at(left), right - left)


def smallest(needed: Callable[[int], int], available: int, most: int, least: int = 1) -> int | None:
    """The smallest n from least to most with needed(n) <= available; None if there is none.

    More need not need less: of GPUs, each holds less of the weights, but tensors of few rows are padded. So rungs are
    tried from below. What is assumed: no number between two rungs that are too few is enough, and where rungs are
    further apart than `SCANNED`, those below one that is too few are too few as well."""
    low = least - 1
    for high in _rungs(least, most):
        if needed(high) <= available:
            return _first(needed, available, low, high)
        low = high
    return None


def fewest(
    tensors: Callable[[int], int], required: Callable[[int], int], available: int, most: int, least: int = 1
) -> int | None:
    """The smallest number of GPUs that is enough, where what they must have is dear to work out: never less than the
    bytes of tensors, and mostly by a share more that differs little from one number to the next.

    What is answered is enough, and one less is not."""
    found = smallest(tensors, available, most, least)
    while found is not None and required(found) > available:
        share = Fraction(required(found), tensors(found) or 1)
        if tensors(min(MANY * found, most)) * share * LITTLE > available:
            return None
        found = smallest(tensors, floor(available / share), most, found + 1)
    while found is not None and found > least and tensors(found - 1) <= available >= required(found - 1):
        found -= 1
    return found


def _rungs(least: int, most: int) -> list[int]:
    """Every number to 8, then two in each octave: 12, 16, 24, 32, …"""
    octaves = (size for power in range(3, most.bit_length()) for size in (3 * 2 ** (power - 1), 2 ** (power + 1)))
    return sorted({size for size in (least, *range(1, 9), *octaves, most) if least <= size <= most})


def _first(needed: Callable[[int], int], available: int, low: int, high: int) -> int:
    """The first that is enough above one that is not: halved until few are left, and those one by one."""
    while high - low > SCANNED:
        middle = (low + high) // 2
        low, high = (low, middle) if needed(middle) <= available else (middle, high)
    return next((size for size in range(low + 1, high) if needed(size) <= available), high)
