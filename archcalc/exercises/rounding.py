"""Whether a number is another one rounded or cut off, as 2.01e8 is 201,466,160."""

from __future__ import annotations

from fractions import Fraction

FEWEST = 2  # digits; with one digit too much would pass for rounded


def is_rounded(given: Fraction, exact: Fraction, last_digit: Fraction | None = None) -> bool:
    """Rounded to as many digits as `given` has, or cut off there; not the exact number itself.

    `last_digit` is what its last digit counts, where the writing tells: 10⁶ in `2.00e8`.
    """
    unit = last_digit or _last_digit(given)
    if unit is None or given == exact or given < unit * 10 ** (FEWEST - 1):
        return False
    return abs(exact - given) * 2 <= unit or given <= exact < given + unit


def _last_digit(given: Fraction) -> Fraction | None:
    """What one more in the last digit before the trailing zeros comes to; None where the decimals never end."""
    if given <= 0:
        return None
    unit = Fraction(1)
    while (given / unit).denominator != 1:
        unit /= 10
        if unit < Fraction(1, 10**12):
            return None
    while (given / (unit * 10)).denominator == 1:
        unit *= 10
    return unit
