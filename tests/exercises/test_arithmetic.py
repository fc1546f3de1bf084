"""Answers as people write them, and nothing else."""

from __future__ import annotations

from fractions import Fraction

import pytest

from archcalc.exercises.arithmetic import number, shape
from archcalc.exercises.rounding import is_rounded


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("201,466,160", 201_466_160),
        ("201_466_160", 201_466_160),
        ("30000*1024 + 1024", 30_721_024),
        ("= 2 × (512 + 3) − 1", 1029),
        ("12 x 4,203,264", 50_439_168),
        ("2**3**2", 512),
        ("2^10", 1024),
        ("7 // 2 + 7/2", Fraction(13, 2)),
        ("-(3 - 5)", 2),
        ("2.01e8", 201_000_000),
        ("768.5 MiB", 768.5 * 2**20),
        ("1.5 kB", 1500),
        ("8B", 8 * 10**9),
    ],
)
def test_a_number_or_its_working(text: str, value: float) -> None:
    assert number(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "about 5",
        "1 +",
        "(1",
        "1)",
        "2 3",
        "__import__('os')",
        "9**9**9",
        "1/0",
        "10**65",
        "(" * 300,
        "1" * 500,
        "1,2,3",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    """At once, and without running it."""
    with pytest.raises(ValueError, match=r"\w"):
        number(text)


@pytest.mark.parametrize(
    "text", ["32 x 2048 x 1024", "[32, 2048, 1024]", "(32, 2048, 1024)", "32×2048×1024", "32 * 2048 * 1_024"]
)
def test_a_shape(text: str) -> None:
    assert shape(text) == (32, 2048, 1024)


@pytest.mark.parametrize("text", ["", "32 by 4", "[32, [4]]", "32 x", "-3 x 4"])
def test_what_is_no_shape(text: str) -> None:
    with pytest.raises(ValueError, match="no shape"):
        shape(text)


def test_rounded_is_near_the_number_for_the_digits_given() -> None:
    exact = Fraction(201_466_160)
    assert all(
        is_rounded(Fraction(given), exact) for given in (201_000_000, 201_500_000, 201_400_000, 200_000_000 + 1_470_000)
    )
    assert not any(
        is_rounded(Fraction(given), exact) for given in (201_466_160, 202_000_000, 200_000_000, 201_466_161, 0)
    )
