"""From values to places on an axis, and the round values that are written beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass

ROUND = (1, 2, 5, 10)  # times a power of the base: steps that people count in


@dataclass(frozen=True)
class Linear:
    """Values from `low` to `high` on a line from `start` to `end`; ticks are multiples of `unit` (2**30 for GiB)."""

    low: float
    high: float
    start: float
    end: float
    unit: float = 1

    def place(self, value: float) -> float:
        span = self.high - self.low
        if span:
            return self.start + (value - self.low) / span * (self.end - self.start)
        return self.start

    def ticks(self, about: int = 5) -> list[float]:
        """Round values within the scale, `about` as many as asked for."""
        rough = max((self.high - self.low) / self.unit / about, 1e-300)
        power = 10.0 ** math.floor(math.log10(rough))
        step = self.unit * power * next(each for each in ROUND if each * power >= rough * 0.999)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return [step * index for index in range(first, last + 1)]


@dataclass(frozen=True)
class Log(Linear):
    """The same with equal distances for equal ratios; `base` is 2 or 10. Values are above 0."""

    base: float = 10

    def place(self, value: float) -> float:
        whole = math.log(self.high / self.low)
        if whole:
            return self.start + math.log(value / self.low) / whole * (self.end - self.start)
        return self.start

    def ticks(self, about: int = 8) -> list[float]:
        """Powers of the base, every so many that they are not crowded."""
        first = math.ceil(math.log(self.low, self.base) - 1e-9)
        last = math.floor(math.log(self.high, self.base) + 1e-9)
        every = max(1, math.ceil((last - first + 1) / about))
        return [self.base**power for power in range(first, last + 1, every)]
