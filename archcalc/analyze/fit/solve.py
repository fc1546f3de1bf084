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
from math import ceil, gcd, isqrt

from archcalc.analyze.fit.need import required, tensors
from archcalc.analyze.fit.polynomial import Bytes
from archcalc.analyze.fit.request import Request
from archcalc.analyze.memory.peak import peak
from archcalc.spec.sizes import Sizes

UNBOUNDED = 10**12  # a size that no machine reaches: what fits there has no bound
GUESSES = 3
STRIDE = 128  # the first step away from a guess that nothing comes of: about a page of tokens
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
        guess = most
        for step in count():
            low = max(size for size, need in self.known.items() if need <= available)
            high = min(size for size, need in self.known.items() if need > available and size > low)
            if high == low + 1:
                break
            if step >= GUESSES:  # no polynomial: away from the last guess in doubled strides, until halving is less
                middle, stride = min(max(isqrt(low * high), low + 1), high - 1), STRIDE << (step - GUESSES)
                self.at(min(middle, low + stride) if guess - low < high - guess else max(middle, high - stride))
                continue
            jumps = [] if step % 2 else [size for size in self.known if self._jumps(size)]  # which may mislead
            guess = self._guess(available, low, high, jumps)
            self.at(guess + 1 if self.at(guess) <= available else guess - 1)
        return low

    def _guess(self, available: int, low: int, high: int, jumps: list[int]) -> int:
        """The largest size between that fits Newton's polynomial through both and the point nearest to them. A cache
        that is kept in pages, or a length that is divided by strides, makes stairs of a polynomial. Only their edges
        lie on it, which are whole periods apart: where there are known `jumps`, it goes through the nearest of them,
        and the answer is an edge."""
        at, near = self.known, sorted(self.known, key=lambda size: abs(size - low))
        others = [size for size in near if at[size] not in (at[low], at[high])]  # not of the same stair
        edges = [size for size in near if size in jumps][:3]
        x, y, *rest = list(dict.fromkeys([*edges, low, high, *others]))[:3]
        slope, bend = Fraction(at[y] - at[x], y - x), Fraction(0)
        for z in rest:
            bend = (Fraction(at[z] - at[y], z - y) - slope) / (z - x)
        least, most = low, high
        while most - least > 1:
            middle = (least + most) // 2
            needed = at[x] + slope * (middle - x) + bend * (middle - x) * (middle - y)
            least, most = (middle, most) if needed <= available else (least, middle)
        guess = min(max(least, low + 1), high - 1)
        period = gcd(*(size - jumps[0] for size in jumps)) if jumps else 0
        edge = guess - (guess - jumps[0]) % period if period else guess
        return edge if edge > low else guess

    def _jumps(self, size: int) -> bool:
        """Whether one more is known to need more."""
        return self.known.get(size + 1, self.known[size]) > self.known[size]


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
