"""The whole numbers that divide another, found by its prime factors rather than by trying each."""

from __future__ import annotations

LARGEST = 10_000  # a factor that is looked for; what is left counts as a prime, as it is below the square of this


def divisors(number: int) -> list[int]:
    """In ascending order, from 1 to the number itself. Of a number with several larger factors, only some."""
    found, left, factor = {1}, number, 2
    while left > 1:
        if left % factor == 0:
            found |= {factor * each for each in found}
            left //= factor
        else:
            is_prime = factor * factor > left or factor > LARGEST
            factor = left if is_prime else factor + 1
    return sorted(found)
