"""Classes of runs: mode, code or engine, kind of device, way of sharding, version; and what their answers are worth.

A band is as wide as it takes: `within` is the smallest multiple of the error that four of five runs stay within, such
that four of five runs of a source that was left out stay within what the others' errors make of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from statistics import median

from measured_rows import Row

COVERED = 0.8  # of all runs
FEWEST, SOURCES = 8, 2  # compared runs of a class, and sources that they come from, of which a band can be told
STEPS, WIDEST = 20, 5  # multiples that are tried: of twentieths, up to five
DATED, TODAY = "dated", "today"  # versions of a code
ALIKE = 1e-9  # what is less apart is equal

Class = tuple[str, str, str, str, str, str]  # mode, runner, devices, sharding, weights, version
Measured = tuple[str, float]  # a source, and the size of an error


@dataclass(frozen=True)
class Runs:
    """The answers, as typed, to one class of runs."""

    of: Class
    rows: tuple[Row, ...]

    def of_figure(self, figure: str) -> Runs:
        """Those of one figure alone."""
        return replace(self, rows=tuple(row for row in self.rows if row.quantity == figure))

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
    """Of answers that may state a band, the largest class first. A code that was typed with its version is of a class
    of its own; where the code of today has the same answer, the row is of today's class besides."""
    found: dict[Class, list[Row]] = defaultdict(list)
    for row in (each for each in rows if each.is_banded):
        run = row.run
        of = run["mode"], run["runner"], run["devices"], run["sharding"], run["weights"]
        if row.is_dated:
            found[(*of, DATED)].append(row)
        if not row.is_dated or row.is_of_today:
            found[(*of, TODAY)].append(replace(row, typed=row.today))
    return sorted((Runs(of, tuple(each)) for of, each in found.items()), key=lambda runs: (runs.of[0], -len(runs.rows)))


def band(measured: Sequence[Measured]) -> float | None:
    """As a fraction, in whole percents; None of fewer runs or sources than a band can be told of."""
    if len(measured) < FEWEST or len({source for source, _ in measured}) < SOURCES:
        return None
    tried = (step / STEPS for step in range(1, STEPS * WIDEST + 1))
    multiple = next((each for each in tried if _share(held_out(measured, each)) >= COVERED), WIDEST)
    return ceil(100 * multiple * _usual(measured) - ALIKE) / 100


def held_out(measured: Sequence[Measured], multiple: float = 1) -> list[bool]:
    """For each run, whether it is within the band that the runs of other sources make."""
    found = []
    for source, error in measured:
        others = [each for each in measured if each[0] != source]
        if others:
            found.append(error <= multiple * _usual(others) + ALIKE)
    return found


def _usual(measured: Iterable[Measured]) -> float:
    """The error that four of five stay within."""
    errors = sorted(error for _, error in measured)
    return errors[ceil(COVERED * len(errors)) - 1]


def _share(found: Sequence[bool]) -> float:
    return sum(found) / len(found) if found else 1.0


def left_out(runs: Runs) -> list[bool]:
    """For each run, whether the band of the other sources' runs, made by the same rule, holds for it: of those of its
    figure, where they have one, else of all."""
    found = []
    for row in runs.rows:
        error, alike = row.banded_error, runs.of_figure(row.quantity or "")
        bands = (band([each for each in of.measured if each[0] != row.source]) for of in (alike, runs))
        stated = next((each for each in bands if each is not None), None)
        if error is not None and stated is not None:
            found.append(abs(error) <= stated + ALIKE)
    return found


def middle(values: Sequence[float]) -> float | None:
    return median(values) if values else None
