"""Divisors are those that trying each number finds, with no more work for a larger number."""

from __future__ import annotations

import pytest
from support.work import lines_run

from archcalc.core.divisors import divisors


@pytest.mark.parametrize("number", [*range(1, 130), 1024, 5040, 65_536, 99_991, 30_030])
def test_divisors_are_all_that_leave_no_remainder(number: int) -> None:
    assert divisors(number) == [each for each in range(1, number + 1) if number % each == 0]


@pytest.mark.parametrize("number", [10**15, 10**15 + 37, 9_999_991 * 9_999_973, 2**60])
def test_work_does_not_follow_the_number(number: int) -> None:
    lines_run(lambda: divisors(number), 100_000)
    found = divisors(number)
    assert (found[0], found[-1]) == (1, number)
    assert all(number % each == 0 for each in found)
