"""Tests of very many cases: a sample of them in every run, the others in `.ci/run`.

`@pytest.mark.wide(8)` keeps eight of a test's cases, from the first to the last in even steps; `@pytest.mark.wide`
keeps none. The variable ARCHCALC_ALL chooses: with `others` those run that the sample leaves out, at most 40 of each
test, drawn by a fixed seed; with any other value all do. A test that is kept whole, since it draws more by itself then,
runs in both.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from random import Random

import pytest

OTHERS, MOST = "others", 40


def left_out(items: Sequence[pytest.Item]) -> Iterator[pytest.Item]:
    """The cases of wide tests that do not run, by what the variable says."""
    said = os.environ.get("ARCHCALC_ALL", "")
    if said and said != OTHERS:
        return
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("wide"):
            cases[item.nodeid.partition("[")[0]].append(item)
    choose = others if said else sample
    for alike in cases.values():
        chosen = choose(len(alike), _wanted(alike[0]))
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


def others(number: int, wanted: int) -> set[int]:
    """Which of so many cases to take where the sample has run: what it leaves out, or as many of that as decide."""
    rest = sorted(set(range(number)) - sample(number, wanted)) or list(range(number))
    return set(rest if len(rest) <= MOST else Random(number).sample(rest, MOST))
