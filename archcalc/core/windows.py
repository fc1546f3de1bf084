"""Windows that move along one side of a map: how many places they take, with the working, and how far they see.

    Window(224, kernel=7, stride=2, before=3, after=3)    ⌊(224 + 2·3 − 7)/2⌋ + 1 = 112

An op carries one for each side of its output, in the order of the sides. All have `size`, the places of the input, and
`places`, those of the output, with its working (`worked`); `sees(place)`, the places of the input that this place of
the output depends on, `reach`, how many those are, and `step`, places of the input from one place of the output to the
next, on average.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from math import gcd

Rule = Callable[["Window"], int]
_RULE: ContextVar[Rule | None] = ContextVar("rule", default=None)


@contextmanager
def counted_by(rule: Rule) -> Iterator[None]:
    """Count the places of convolutions and pools by another rule: what somebody gets who misremembers the formula."""
    token = _RULE.set(rule)
    try:
        yield
    finally:
        _RULE.reset(token)


@dataclass(frozen=True)
class Window:
    """A convolution's or a pooling layer's: `before` and `after` are the zeros that are added at the ends."""

    size: int
    kernel: int
    stride: int = 1
    before: int = 0
    after: int = 0
    dilation: int = 1
    ceil: bool = False

    @property
    def reach(self) -> int:
        return self.dilation * (self.kernel - 1) + 1

    @property
    def step(self) -> Fraction:
        return Fraction(self.stride)

    @property
    def places(self) -> int:
        rule = _RULE.get()
        return rule(self) if rule else self.right_places

    @property
    def right_places(self) -> int:
        room = self.size + self.before + self.after - self.reach
        rounded = -(-room // self.stride) if self.ceil else room // self.stride
        return rounded if self._last_is_outside(rounded) else rounded + 1

    def sees(self, place: int) -> range:
        first = place * self.stride - self.before
        return range(first, first + self.reach, self.dilation)

    def _last_is_outside(self, last: int) -> bool:
        """With rounding up, a window that would start in the padding behind the input is left out."""
        return self.ceil and last * self.stride >= self.size + self.before

    @property
    def worked(self) -> str:
        padding = f"2·{self.before}" if self.before == self.after else f"{self.before} + {self.after}"
        covered = str(self.kernel) if self.dilation == 1 else f"{self.dilation}·({self.kernel} − 1) − 1"
        opening, closing = "⌈⌉" if self.ceil else "⌊⌋"
        kept = self._last_is_outside(self.places)
        more = "" if kept else " + 1"
        return f"{opening}({self.size} + {padding} − {covered})/{self.stride}{closing}{more} = {self.places}"


@dataclass(frozen=True)
class Spread:
    """A transposed convolution's: every place of the input is spread over a window of the output."""

    size: int
    kernel: int
    stride: int = 1
    padding: int = 0  # places cut off at both ends
    more: int = 0  # places added at the far end (output padding)
    dilation: int = 1

    @property
    def reach(self) -> int:
        """From the first to the last, where most of the kernel's weights meet one place of the output."""
        apart = self.stride // gcd(self.stride, self.dilation)  # weights from one that meets it to the next
        spacing = self.dilation // gcd(self.stride, self.dilation)
        return min((self.kernel - 1) // apart * spacing + 1, self.size)

    @property
    def step(self) -> Fraction:
        return Fraction(1, self.stride)

    def sees(self, place: int) -> range:
        """Weight `w` brings the input's place `i` to the output's place `i·stride + w·dilation − padding`."""
        common = gcd(self.stride, self.dilation)
        target, rest = divmod(place + self.padding, common)
        if rest:
            return range(0)
        stride, dilation = self.stride // common, self.dilation // common
        first = target * pow(dilation, -1, stride) % stride  # the first weight that meets it
        weights = range(first, self.kernel, stride)
        last = (target - first * dilation) // stride
        return range(last - (len(weights) - 1) * dilation, last + 1, dilation)

    @property
    def places(self) -> int:
        covered = self.dilation * (self.kernel - 1) + 1
        return (self.size - 1) * self.stride - 2 * self.padding + covered + self.more

    @property
    def worked(self) -> str:
        covered = str(self.kernel) if self.dilation == 1 else f"{self.dilation}·({self.kernel} − 1) + 1"
        more = f" + {self.more}" if self.more else ""
        return f"({self.size} − 1)·{self.stride} − 2·{self.padding} + {covered}{more} = {self.places}"


@dataclass(frozen=True)
class Bins:
    """Adaptive pooling's: the side is cut into `places` parts, as equal as may be."""

    size: int
    places: int

    @property
    def reach(self) -> int:
        """The longest part: from ⌊i·size/places⌋ to ⌈(i + 1)·size/places⌉.

        With common factors out, the remainders of i·size take every value below `places`; the largest starts the
        longest part.
        """
        common = gcd(self.size, self.places)
        size, places = self.size // common, self.places // common
        return -(-(size + places - 1) // places)

    @property
    def step(self) -> Fraction:
        return Fraction(self.size, self.places)

    def sees(self, place: int) -> range:
        return range(place * self.size // self.places, -(-(place + 1) * self.size // self.places))

    @property
    def worked(self) -> str:
        return f"{self.size} in {self.places} {'part' if self.places == 1 else 'parts'}"


@dataclass(frozen=True)
class Enlarged:
    """Upsampling's: `neighbours` places of the input make one of the output."""

    size: int
    times: int
    neighbours: int = 1

    @property
    def places(self) -> int:
        return self.size * self.times

    @property
    def reach(self) -> int:
        return min(self.neighbours, self.size)

    @property
    def step(self) -> Fraction:
        return Fraction(1, self.times)

    def sees(self, place: int) -> range:
        """Interpolation reads a single place where the output's centre is one of the input."""
        if self.neighbours == 1:
            return range(place // self.times, place // self.times + 1)
        first, rest = divmod(2 * place + 1 - self.times, 2 * self.times)
        return range(first, first + (2 if rest else 1))

    @property
    def worked(self) -> str:
        return f"{self.size} · {self.times} = {self.places}"


class Ends(Window):
    """A map with places added `before` and `after` it; negative numbers are cut off."""

    def __init__(self, size: int, before: int, after: int) -> None:
        super().__init__(size, kernel=1, before=before, after=after)

    @property
    def places(self) -> int:
        return self.right_places

    @property
    def worked(self) -> str:
        sign = "−" if min(self.before, self.after) < 0 else "+"
        before, after = abs(self.before), abs(self.after)
        changed = f"2·{before}" if before == after else f"{before} {sign} {after}"
        return f"{self.size} {sign} {changed} = {self.places}"


Along = Window | Spread | Bins | Enlarged  # what an op does along one side of a map
