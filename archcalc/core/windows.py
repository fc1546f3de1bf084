"""Windows that move along one side of a map: how many places they take, with the working, and how far they see.

    Window(224, kernel=7, stride=2, before=3, after=3)    ⌊(224 + 2·3 − 7)/2⌋ + 1 = 112

An op carries one for each side of its output, in the order of the sides.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import Protocol


class Along(Protocol):
    """What an op does along one side of a map."""

    @property
    def size(self) -> int: ...  # places of the input
    @property
    def places(self) -> int: ...  # of the output
    @property
    def worked(self) -> str: ...  # the working of that number
    @property
    def reach(self) -> int: ...  # places of the input that one place of the output depends on
    @property
    def step(self) -> Fraction: ...  # places of the input between two neighbours of the output


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
        room = self.size + self.before + self.after - self.reach
        rounded = -(-room // self.stride) if self.ceil else room // self.stride
        return rounded if self._last_is_outside(rounded) else rounded + 1

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
        """Every `stride`-th of the kernel's weights meets one place of the output, where the input has as many."""
        return min(-(-self.kernel // self.stride), self.size)

    @property
    def step(self) -> Fraction:
        return Fraction(1, self.stride)

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

    @property
    def worked(self) -> str:
        return f"{self.size} · {self.times} = {self.places}"
