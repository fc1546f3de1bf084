"""The error bands of training peaks, by the code that ran, as presets/accuracy/training.yaml has them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from math import ceil

from measured_codes import name_of
from measured_figures import Figure
from measured_peaks import TRAINING

WITHIN = 0.8  # of all runs
FEWEST = 10  # runs of which a band of their own can be told


def bands(figures: list[Figure]) -> Iterator[str]:
    """A line for each code of which enough runs were measured, and one for all of them."""
    errors: dict[str, list[float]] = defaultdict(list)
    for figure in figures:
        if TRAINING in figure.of and figure.error is not None:
            errors["any"].append(abs(figure.error))
            errors[name_of(figure.case) or "any"].append(abs(figure.error))
    for name, found in sorted(errors.items()):
        if len(found) >= FEWEST:
            within = sorted(found)[ceil(WITHIN * len(found)) - 1]
            yield f"{name}: {{band: {ceil(100 * within)}, runs: {len(found)}}}"
