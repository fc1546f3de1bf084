"""The number that somebody expects, exact to the digits it is written with, and units that are mixed up."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from archcalc.core.errors import InputError
from archcalc.exercises.arithmetic import number

_BYTES = re.compile(r"(?i)(?<![a-z])([kmgtp])(i?)b?\s*(?:ytes?)?$")
_POWERS = {letter: power for power, letter in enumerate("kmgtp", start=1)}
_IN_BYTES = re.compile(r"(?i)[kmgtp]i?b|bytes?$")
PRECISE = 3  # digits from which the likeliest convention that agrees is taken; with fewer, an exact one is looked for
EXACT = 30  # digits of a number that is not rounded


@dataclass(frozen=True)
class Asked:
    said: str
    value: Fraction
    last_digit: Fraction  # what its last digit counts; 0 for a working, which is exact

    @property
    def digits(self) -> int:
        """How many are given; very many for an exact number."""
        return len(str(int(self.value / self.last_digit))) if self.last_digit > 1 else EXACT

    @property
    def is_precise(self) -> bool:
        return self.digits >= PRECISE

    @property
    def is_bytes(self) -> bool:
        return bool(_IN_BYTES.search(self.said))

    def agrees(self, figure: int | Fraction) -> bool:
        """Equal, or equal to the digits that were given: rounded, or cut off behind more than one of them."""
        if self.value == figure or self.digits == EXACT:
            return self.value == figure
        is_cut_off = self.digits > 1 and 0 <= figure - self.value < self.last_digit
        return is_cut_off or abs(figure - self.value) * 2 <= self.last_digit

    def times(self, factor: Fraction) -> Asked:
        """As if it were written in another unit."""
        return Asked(self.said, self.value * factor, self.last_digit * factor)

    @property
    def in_other_bytes(self) -> tuple[Asked, str] | None:
        """`15 GB` as GiB, and the other way round; None without such a unit."""
        found = _BYTES.search(self.said.strip())
        if not found:
            return None
        ratio = Fraction(2**10, 10**3) ** _POWERS[found[1].lower()]
        letter = found[1].upper() if found[1].lower() != "k" else "k"
        if found[2]:
            return self.times(1 / ratio), f"in {letter}B, not {letter}iB"
        return self.times(ratio), f"in {letter}iB, not {letter}B"


def asked(text: str) -> Asked:
    """As people write it: `124M`, `124,439,808`, `3.2 GB`, `15 GiB`, `6.9T`, `12*768**2`."""
    try:
        found = number(text)
    except ValueError:
        hint = "write a number such as 124M, 124,439,808, 3.2GB, 15GiB or 6.9T"
        raise InputError(f"'{text}' is no number", hint, field="--expect") from None
    if found.value <= 0:
        raise InputError(f"expected a number above zero, found '{text}'", field="--expect")
    return Asked(text.strip(), found.value, found.last_digit or Fraction(0))
