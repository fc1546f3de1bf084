"""An expected number agrees with a figure to the digits it is written with."""

from __future__ import annotations

import pytest

from archcalc.core.errors import InputError
from archcalc.exercises.expect.answer import asked


@pytest.mark.parametrize(
    ("text", "figure"),
    [
        ("124M", 124_439_808),
        ("124.4M", 124_439_808),
        ("124,439,808", 124_439_808),
        ("0.12B", 124_439_808),
        ("7B", 6_738_415_616),
        ("6.7 billion", 6_738_415_616),
        ("3.2 GB", 3_249_999_999),
        ("15 GiB", 15 * 2**30 + 2**29),
        ("6.9T", 6_900_000_000_001),
        ("12 * 768**2", 12 * 768 * 768),
        ("۱۲۴ M", 124_000_001),
    ],
)
def test_a_number_agrees(text: str, figure: int) -> None:
    assert asked(text).agrees(figure)


@pytest.mark.parametrize(
    ("text", "figure"),
    [
        ("117M", 124_439_808),
        ("124,439,807", 124_439_808),
        ("7B", 7_600_000_000),  # cut off behind its only digit
        ("3.2 GB", 3_149_999_999),
        ("12 * 768**2", 12 * 768 * 768 + 1),
    ],
)
def test_a_number_does_not_agree(text: str, figure: int) -> None:
    assert not asked(text).agrees(figure)


def test_units_of_bytes_are_mixed_up_both_ways() -> None:
    decimal, binary = asked("15 GB").in_other_bytes, asked("15 GiB").in_other_bytes
    assert decimal is not None
    assert binary is not None
    assert decimal[0].agrees(15 * 2**30)
    assert binary[0].agrees(15 * 10**9)
    assert asked("15 B").in_other_bytes is None


@pytest.mark.parametrize("text", ["banana", "", "-5", "0", "1/0", "9" * 500])
def test_what_is_no_number_is_one_message(text: str) -> None:
    with pytest.raises(InputError, match="number") as error:
        asked(text)
    assert error.value.field == "--expect"
