"""The largest size that still fits, found exactly: for a function of whole numbers that never falls.

    curve = Curve(needed)
    curve.largest(available, most)      the largest n from 1 to most with needed(n) <= available; 0 if there is none
    curve_of(request, "batch")          what a request needs, as such a function of one of its sizes

Memory is a polynomial of the batch and of the length, or the largest of several such, so that a parabola through three
known points lands at the answer or close to it: a handful of evaluations, where halving would take dozens. Whatever
the function, each answer is proven by its two neighbours: n fits, n + 1 does not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from itertools import count
from math import ceil, isqrt

from archcalc.analyze.fit.need import required, tensors
from archcalc.analyze.fit.polynomial import Bytes
from archcalc.analyze.fit.request import Request
from archcalc.analyze.memory.peak import peak
from archcalc.spec.sizes import Sizes

UNBOUNDED = 10**12  # a size that no machine reaches: what fits there has no bound
GUESSES = 6
FEW_SEQUENCES, FEW_POSITIONS = 2, 16  # from which on steps differ by their sizes alone: a loop's ends are its own steps
CURVES = 64  # that are remembered, the latest ones


@dataclass
class Curve:
    """A function that never falls, with all that is known of it: one device's answer helps the next."""

    needed: Callable[[int], int]
    known: dict[int, int] = field(default_factory=dict)

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
        for step in count():
            low = max(size for size, need in self.known.items() if need <= available)
            high = min(size for size, need in self.known.items() if need > available and size > low)
            if high == low + 1:
                break
            if step >= GUESSES:  # no polynomial: halve, on the scale of its digits
                self.at(min(max(isqrt(low * high), low + 1), high - 1))
                continue
            guess = self._guess(available, low, high)
            self.at(guess + 1 if self.at(guess) <= available else guess - 1)
        return low

    def _guess(self, available: int, low: int, high: int) -> int:
        """The largest size between that fits Newton's polynomial through both and the point nearest to them."""
        first, last, least, most = low, high, self.known[low], self.known[high]
        slope, bend = Fraction(most - least, last - first), Fraction(0)
        near = [size for size in self.known if size not in (low, high)]
        if near:
            third = min(near, key=lambda size: abs(size - first))
            bend = (Fraction(self.known[third] - most, third - last) - slope) / (third - first)
        while high - low > 1:
            middle = (low + high) // 2
            needed = least + slope * (middle - first) + bend * (middle - first) * (middle - last)
            low, high = (middle, high) if needed <= available else (low, middle)
        return min(max(low, first + 1), last - 1)


@lru_cache(maxsize=CURVES)
def curve_of(request: Request, size: str, asked: Request | None = None) -> Curve:
    """Bytes as a function of the batch, or of the length, with the other unchanged. In training the allocator's share
    is that of `asked`, or else of the request itself. Of split layers, and of engines that fill a device, each size is
    asked for by itself."""
    deployment, names, least, few, most = request.deployment, ["batch"], 1, FEW_SEQUENCES, UNBOUNDED
    if size == "length":
        names, few, most = [*request.varying.names], FEW_POSITIONS, request.varying.longest or UNBOUNDED
        least = max(request.network.resolved.lengths[name].least for name in names)

    def sizes(number: int) -> Sizes:
        return replace(request.sizes, **dict.fromkeys(names, max(number, least)))

    if request.split or deployment.run.engine.fills_device:
        return Curve(lambda number: required(request, sizes(number)))
    found = Bytes(lambda number: peak(deployment, sizes(number)), few, most)
    if not request.options.trains:
        return Curve(found)
    return Curve(lambda number: ceil(found(number) * _reserve(asked or request)))


def by_part(request: Request) -> Curve:
    """Bytes by the number of sequences at a time; in training the gradients of those before are there as well, of which
    more than two parts need no more."""
    if not request.options.trains:
        return curve_of(request, "batch")
    return curve_of(replace(request, options=request.options.changed(accumulate=2)), "batch", request)


@lru_cache(maxsize=CURVES)
def _reserve(request: Request) -> Fraction:
    """What a device must have for a byte of tensors, at the sizes that were asked for: so a curve over many sizes is
    worked out, and a single answer simulates the allocator."""
    return Fraction(required(request), tensors(request) or 1)


def longest_in(request: Request, available: int) -> tuple[int | None, str | None]:
    """The longest sequence that so many bytes hold, and whether memory or the model limits it."""
    names, asked, most = request.varying
    if not names:
        return None, None
    curve = curve_of(request, "length")
    if asked:
        curve.at(asked)  # which is known, and where the search begins
    if most and curve.at(most) <= available:
        return most, "positions"
    found = curve.largest(available, most or UNBOUNDED)
    return (None, None) if found == UNBOUNDED else (found, "memory")
