"""Answers as people write them, and nothing else."""

from __future__ import annotations

from fractions import Fraction

import pytest

from archcalc.exercises.arithmetic import is_rounded, number


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
        ("30 721 024", 30_721_024),
        ("30\u202f721\u00a0024", 30_721_024),
        ("30'721'024", 30_721_024),
        ("30.721.024", 30_721_024),
        ("30.721.024,5", 30_721_024.5),
        ("3,07,21,024", 30_721_024),
        ("۳۰٬۷۲۱٬۰۲۴", 30_721_024),
        ("٣٠٧٢١٠٢٤", 30_721_024),
        ("۳٫۵", 3.5),
        ("30,7M", 30_700_000),
        (r"30000 \times 1024", 30_720_000),
        (r"$30000 \cdot 1024 + 1024 = 30{,}721{,}024$", 30_721_024),
        (r"\frac{10}{4} \times 2^{10}", 2560),
        ("2¹⁰", 1024),
        ("30.7 million parameters", 30_700_000),
        ("6.9 TFLOPs", 6.9e12),
        ("3.2 GBytes", 3.2e9),
        ("P = 3 * 5", 15),
        ("≈ 5", 5),
        ("V*d + d", 30_721_024),
    ],
)
def test_a_number_or_its_working(text: str, value: float) -> None:
    assert number(text, {"V": 30_000, "d": 1024}).value == value


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
        "I do not know",
        "30000 * W",
        "12 blocks",
        "2 300 4",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    """At once, and without running it."""
    with pytest.raises(ValueError, match=r"\w"):
        number(text)


def test_rounded_is_near_the_number_for_the_digits_given() -> None:
    exact = Fraction(201_466_160)
    assert all(
        is_rounded(Fraction(given), exact) for given in (201_000_000, 201_500_000, 201_400_000, 200_000_000 + 1_470_000)
    )
    assert not any(
        is_rounded(Fraction(given), exact) for given in (201_466_160, 202_000_000, 200_000_000, 201_466_161, 0)
    )


@pytest.mark.parametrize(
    ("text", "last_digit"),
    [("30.7M", 10**5), ("3.07e7", 10**5), ("117M", 10**6), ("2.00e8", 10**6), ("124000000", 10**6), ("124,439,808", 1)],
)
def test_the_writing_tells_how_exact_a_number_is(text: str, last_digit: int) -> None:
    assert number(text).last_digit == last_digit
    assert number(f"1 * {text}").last_digit is None


@pytest.mark.parametrize(("text", "value", "otherwise"), [("30.721", 30.721, 30_721), ("30,721", 30_721, 30.721)])
def test_one_separator_may_be_read_in_two_ways(text: str, value: float, otherwise: float) -> None:
    found = number(text)
    assert found.otherwise is not None
    assert (float(found.value), float(found.otherwise)) == (value, otherwise)


def test_a_working_that_comes_to_something_else_is_seen() -> None:
    assert number("3 * 5 = 16").worked == 15
    assert number("3 * 5 = 15").worked is None
    assert number("2.006e8 + 0 = 2.01e8").worked is None
