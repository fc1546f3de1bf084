"""Numbers of layers, from 0, as runs with equal steps: of 10¹⁵ equal layers there is one run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from math import gcd

from archcalc.core.budget import Budget

MOST_RUNS = 10_000  # a pattern of unequal layers has a run for each of its lines


@dataclass(frozen=True)
class LayerNumbers:
    """Each run is a range; none is empty."""

    runs: tuple[range, ...] = ()

    @classmethod
    def of(cls, runs: Iterable[range]) -> LayerNumbers:
        return cls(tuple(run for run in runs if run))

    @classmethod
    def up_to(cls, end: int) -> LayerNumbers:
        return cls.of([range(end)])

    def __bool__(self) -> bool:
        return bool(self.runs)

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(self.runs)

    def __contains__(self, number: int) -> bool:
        return any(number in run for run in self.runs)

    @property
    def number(self) -> int:
        """How many there are; `len` of a range is bounded by the machine."""
        return sum(_length(run) for run in self.runs)

    @property
    def end(self) -> int:
        """One more than the last."""
        return max((run[-1] + 1 for run in self.runs), default=0)

    def shifted(self, by: int) -> LayerNumbers:
        return LayerNumbers(tuple(_shifted(run, by) for run in self.runs))

    def repeated(self, times: int, period: int) -> LayerNumbers:
        """In each turn of so many layers; a short run becomes one run a layer, a long one a run a turn."""
        return LayerNumbers.of(chain.from_iterable(_turns(run, times, period) for run in self.runs))

    def between(self, first: int, end: int) -> LayerNumbers:
        """Those from `first` on, up to `end`."""
        return LayerNumbers.of(run[_place(run, first) : _place(run, end)] for run in self.runs)

    def every(self, step: int, remainder: int) -> LayerNumbers:
        """Those that leave the remainder when they are divided by the step."""
        cycles = [(run, step // gcd(run.step, step)) for run in self.runs]  # after which a run's remainders repeat
        numbers = ((run, cycle, *each) for run, cycle in cycles for each in enumerate(run[:cycle]))
        return LayerNumbers.of(run[first::cycle] for run, cycle, first, one in numbers if one % step == remainder)


def _length(run: range) -> int:
    return (run[-1] - run[0]) // run.step + 1


def _shifted(run: range, by: int) -> range:
    return range(run.start + by, run.stop + by, run.step)


def _place(run: range, number: int) -> int:
    """How many of a run are below a number."""
    return max(0, -(-(number - run.start) // run.step))


def _turns(run: range, times: int, period: int) -> Iterator[range]:
    Budget("runs of unequal layers", MOST_RUNS, "repeat fewer kinds of layers").spend(min(_length(run), times))
    if _length(run) < times:
        return (range(number, number + times * period, period) for number in run)
    return (_shifted(run, turn * period) for turn in range(times))
