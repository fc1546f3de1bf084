"""The largest size that fits, for any function that never falls."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archcalc.analyze.fit.solve import UNBOUNDED, Curve
from archcalc.analyze.fit.spread import NUMBERS, smallest

coefficients = st.tuples(st.integers(0, 10**9), st.integers(0, 10**6), st.integers(0, 1000))
pieces = st.lists(coefficients, min_size=1, max_size=4)


@given(pieces, st.integers(0, 10**13), st.sampled_from([1, 2, 1024, UNBOUNDED]))
def test_the_largest_fits_and_one_more_does_not(parts: list[tuple[int, int, int]], available: int, most: int) -> None:
    """Of several parabolas the highest, as memory is the highest of several instants."""

    def needed(size: int) -> int:
        return max(a + b * size + c * size * size for a, b, c in parts)

    found = Curve(needed).largest(available, most)
    assert 0 <= found <= most
    assert found == 0 or needed(found) <= available
    assert found == most or needed(found + 1) > available


@given(st.integers(1, 5000), st.integers(1, 10**6))
def test_steps_are_solved_too(step: int, available: int) -> None:
    """Caches are kept in pages: memory stands still, then jumps."""
    found = Curve(lambda size: 7 * (size // step)).largest(available)
    assert 7 * (found // step) <= available < 7 * ((found + 1) // step)


def test_a_straight_line_takes_four_evaluations() -> None:
    """Both ends, the answer, and the one behind it; a second question of the same curve takes two more."""
    asked = []

    def needed(size: int) -> int:
        asked.append(size)
        return 1000 + 7 * size

    curve = Curve(needed)
    assert curve.largest(10_000) == (10_000 - 1000) // 7
    assert len(asked) == 4
    assert curve.largest(20_000) == (20_000 - 1000) // 7
    assert len(asked) == 6


@pytest.mark.parametrize("period", [16, 256, 320 * 256])
def test_edges_of_stairs_tell_where_the_next_one_is(period: int) -> None:
    """Once a few of them are known, an answer takes two evaluations."""
    asked = []

    def needed(size: int) -> int:
        asked.append(size)
        return 10**8 + 262_144 * -(-size // period)

    curve = Curve(needed)
    for stairs in (12_345, 23_457, 45_678, 98_765, 54_322):
        assert curve.largest(10**8 + 262_144 * stairs) == stairs * period
    asked.clear()
    for stairs in (67_890, 34_567, 76_543):
        assert curve.largest(10**8 + 262_144 * stairs + 99) == stairs * period
    assert len(asked) == 6


def test_a_size_below_that_needs_more_does_not_mislead() -> None:
    """A step of 8,192 prompts of one token has more logits than one of eight prompts of 1,024."""
    curve = Curve(lambda size: 60_000 // size + 10 * size)
    curve.at(1024)
    assert curve.at(1) > 20_000 and curve.largest(20_000, 32_768) == 1997


def test_what_never_grows_has_no_bound() -> None:
    """And what is too large from the start has no size at all."""
    assert Curve(lambda size: 5).largest(5) == UNBOUNDED
    assert Curve(lambda size: 5).largest(4) == 0


def test_the_smallest_that_is_enough() -> None:
    """The one before it is not."""
    assert smallest(range(1, 4097), lambda number: -(-1000 // number) <= 30) == 34
    assert -(-1000 // 34) <= 30 < -(-1000 // 33)
    assert smallest(NUMBERS, lambda number: -(-1000 // number) <= 30) == 40
    assert smallest(NUMBERS, lambda number: False) is None
    assert smallest(NUMBERS, lambda number: True) == 1
    assert smallest([], lambda number: True) is None


@given(st.integers(1, 4096))
def test_any_threshold_is_found(least: int) -> None:
    assert smallest(NUMBERS, lambda number: number >= least) == min(one for one in NUMBERS if one >= least)


def test_what_is_hopeless_ends_the_search() -> None:
    asked: list[int] = []

    def enough(number: int) -> bool:
        asked.append(number)
        return False

    assert smallest(NUMBERS, enough, lambda number: number >= 4) is None
    assert asked == [1, 2, 4]


def test_numbers_of_gpus_are_those_of_machines() -> None:
    """One, two, four or eight, then whole machines of eight."""
    assert NUMBERS[:6] == (1, 2, 4, 8, 16, 24)
    assert all(number % 8 == 0 for number in NUMBERS[3:]) and NUMBERS[-1] == 512 * 8
