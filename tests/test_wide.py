"""A sample of the cases of a wide test: even steps from the first to the last, the same in every run."""

from __future__ import annotations

import pytest
from support.wide import MOST, others, sample


@pytest.mark.parametrize(
    ("number", "wanted", "chosen"),
    [(10, 4, {0, 3, 6, 9}), (3, 8, {0, 1, 2}), (5, 1, {0}), (5, 0, set()), (101, 3, {0, 50, 100})],
)
def test_a_sample_spans_all_cases(number: int, wanted: int, chosen: set[int]) -> None:
    assert sample(number, wanted) == chosen


@pytest.mark.parametrize(
    ("number", "wanted", "chosen"),
    [(10, 4, {1, 2, 4, 5, 7, 8}), (5, 1, {1, 2, 3, 4}), (5, 0, {0, 1, 2, 3, 4}), (3, 8, {0, 1, 2})],
)
def test_the_others_are_what_a_sample_leaves_out(number: int, wanted: int, chosen: set[int]) -> None:
    assert others(number, wanted) == chosen


def test_of_very_many_others_the_same_are_drawn_in_every_run() -> None:
    drawn = others(2421, 29)
    assert len(drawn) == MOST and drawn == others(2421, 29)
    assert drawn <= set(range(2421)) - sample(2421, 29)
    assert min(drawn) < 100 and max(drawn) > 2300
