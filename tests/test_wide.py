"""A sample of the cases of a wide test: even steps from the first to the last, the same in every run."""

from __future__ import annotations

import pytest
from support.wide import sample


@pytest.mark.parametrize(
    ("number", "wanted", "chosen"),
    [(10, 4, {0, 3, 6, 9}), (3, 8, {0, 1, 2}), (5, 1, {0}), (5, 0, set()), (101, 3, {0, 50, 100})],
)
def test_a_sample_spans_all_cases(number: int, wanted: int, chosen: set[int]) -> None:
    assert sample(number, wanted) == chosen
