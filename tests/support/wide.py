"""Tests of very many cases: a sample of them in every run, all of them in `.ci/run`.

`@pytest.mark.wide(8)` keeps eight of a test's cases, from the first to the last in even steps; `@pytest.mark.wide`
keeps none. With the variable ARCHCALC_ALL set, all cases run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import pytest


def left_out(items: Sequence[pytest.Item]) -> Iterator[pytest.Item]:
    """The cases of wide tests that are not in the sample."""
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("wide"):
            cases[item.nodeid.partition("[")[0]].append(item)
    for alike in cases.values():
        chosen = sample(len(alike), _wanted(alike[0]))
        yield from (item for index, item in enumerate(alike) if index not in chosen)


def _wanted(item: pytest.Item) -> int:
    marker = item.get_closest_marker("wide")
    return int(marker.args[0]) if marker and marker.args else 0


def sample(number: int, wanted: int) -> set[int]:
    """Which of so many cases to take: the first, the last, and those between them in even steps."""
    if wanted >= number:
        return set(range(number))
    if wanted < 2:
        return set(range(wanted))
    return {round(index * (number - 1) / (wanted - 1)) for index in range(wanted)}
