"""Classes of runs: mode, code or engine, kind of device, way of sharding; and what their answers are worth.

A training code is typed with the version that ran, so that versions are of one class; PyTorch's allocator takes the
same on any device. A band is the error that four of five runs stay within, and also if all sources weigh alike, however
many runs they have.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import ceil
from statistics import median

from measured_rows import Row

from archcalc.run.accuracy import ANY

COVERED = 0.8  # of all runs
FEWEST, SOURCES = 8, 2  # compared runs of a class, and sources that they come from, of which a band can be told
ALIKE = 1e-9  # what is less apart is equal

Class = tuple[str, str, str, str, str]  # mode, runner, devices, sharding, weights
Measured = tuple[str, float]  # a source, and the size of an error


@dataclass(frozen=True)
class Runs:
    """The answers, as typed, to one class of runs."""

    of: Class
    rows: tuple[Row, ...]

    def of_figure(self, figure: str) -> Runs:
        """Those of one figure alone."""
        return replace(self, rows=tuple(row for row in self.rows if row.figure == figure))

    @property
    def errors(self) -> list[float]:
        return [abs(row.typed_error) for row in self.rows if row.typed_error is not None]

    @property
    def measured(self) -> list[Measured]:
        return [(row.source, abs(row.banded_error)) for row in self.rows if row.banded_error is not None]

    @property
    def bands(self) -> list[float]:
        """Those that the answers state."""
        return [row.typed.band for row in self.rows if row.typed.band is not None and row.typed_error is not None]

    @property
    def within(self) -> list[bool]:
        """Of answers with a band, whether what was measured is within it."""
        pairs = [(row.typed_error, row.typed.band) for row in self.rows]
        return [abs(error) <= band + ALIKE for error, band in pairs if error is not None and band is not None]


def classes(rows: Iterable[Row]) -> list[Runs]:
    """Of answers that may state a band, the largest class first."""
    found: dict[Class, list[Row]] = defaultdict(list)
    for row in rows:
        if row.is_banded:
            run = row.run
            devices = ANY if run["mode"] == "train" else run["devices"]
            found[run["mode"], run["runner"], devices, run["sharding"], run["weights"]].append(row)
    return sorted((Runs(of, tuple(each)) for of, each in found.items()), key=lambda runs: (runs.of[0], -len(runs.rows)))


def band(measured: Sequence[Measured]) -> float | None:
    """As a fraction, in whole percents; None of fewer runs or sources than a band can be told of."""
    runs = Counter(source for source, _ in measured)
    if len(measured) < FEWEST or len(runs) < SOURCES:
        return None
    ordered = sorted(measured, key=lambda each: each[1])
    by_source = accumulate(1 / runs[source] / len(runs) for source, _ in ordered)
    by_run = accumulate(1 / len(ordered) for _ in ordered)
    shares = zip(ordered, by_source, by_run, strict=True)
    stated = next(error for (_, error), *within in shares if min(within) >= COVERED - ALIKE)
    return ceil(100 * stated - ALIKE) / 100


def left_out(runs: Runs) -> list[bool]:
    """For each run, whether the band of the other sources' runs, made by the same rule, holds for it: of those of its
    figure, where they have one, else of all."""
    found = []
    for row in runs.rows:
        error, alike = row.banded_error, runs.of_figure(row.figure)
        bands = (band([each for each in of.measured if each[0] != row.source]) for of in (alike, runs))
        stated = next((each for each in bands if each is not None), None)
        if error is not None and stated is not None:
            found.append(abs(error) <= stated + ALIKE)
    return found


def middle(values: Sequence[float]) -> float | None:
    return median(values) if values else None
