"""The largest size that still fits, found exactly: for a function of whole numbers that never falls.

    curve = Curve(needed)
    curve.largest(available, most)      the largest n from 1 to most with needed(n) <= available; 0 if there is none

Memory is a polynomial of the batch and of the length, or the largest of several such, so that a parabola through three
known points lands at the answer or close to it: a handful of evaluations, where halving would take dozens. Whatever
the function, each answer is proven by its two neighbours: n fits, n + 1 does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import count
from math import isqrt

UNBOUNDED = 10**12  # a size that no machine reaches: what fits there has no bound
GUESSES = 6
FEW = 5  # sizes that are tried one by one


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
        if all(need > available for need in self.known.values()) and self.at(1) > available:
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


def smallest(
    sizes: Sequence[int], enough: Callable[[int], bool], hopeless: Callable[[int], bool] = lambda size: False
) -> int | None:
    """The smallest of ascending sizes that is enough; None if there is none, or where one is found to be `hopeless`.

    More need not need less: of GPUs, each holds less of the weights, but tensors of few rows are padded. So rungs are
    tried from below. What is assumed: if two neighbouring rungs are too few, so are all sizes between them."""
    low = -1
    for high in _rungs(len(sizes)):
        if enough(sizes[high]):
            return sizes[_first(sizes, enough, low, high)]
        if hopeless(sizes[high]):
            return None
        low = high
    return None


def _rungs(number: int) -> list[int]:
    """Places among so many: the first few one by one, then by doubling, and the last."""
    doubled = (FEW * 2**power for power in range(number.bit_length()))
    return sorted({place for place in (*range(FEW), *doubled, number - 1) if 0 <= place < number})


def _first(sizes: Sequence[int], enough: Callable[[int], bool], low: int, high: int) -> int:
    """The place of the first that is enough, above one that is not."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(sizes[middle]) else (middle, high)
    return high
