"""Which convention gives an expected number: the figure itself, others of the report, other ways of counting."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from archcalc.core.errors import InputError
from archcalc.exercises.arithmetic import number
from archcalc.report.expected import Convention, Expected, Verdict

_BYTES = re.compile(r"(?i)(?<![a-z])([kmgtp])(i?)b?\s*(?:ytes?)?$")
_POWERS = {letter: power for power, letter in enumerate("kmgtp", start=1)}
_IN_BYTES = re.compile(r"(?i)[kmgtp]i?b|bytes?$")
PRECISE = 3  # digits from which the likeliest convention that agrees is taken; with fewer, an exact one is looked for
EXACT = 30  # digits of a number that is not rounded
MOST_TOLD = 2  # conventions that a sentence names
MOST_PAIRS = 2  # pairs that may explain a number: where more do, none can be meant


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


class Candidate(NamedTuple):
    """What a way of counting comes to."""

    name: str
    value: int | Fraction
    sentence: str
    is_bytes: bool = False


class Tier(NamedTuple):
    """Ways of counting that are equally likely, the likeliest tier first."""

    candidates: Callable[[], Iterable[Candidate]]
    digits: int = 1  # that a number must have for these to be looked at: with fewer, too much would agree
    pairs: bool = False  # two of them may come together


def expected(asked: Asked, figures: Sequence[Candidate], tiers: Iterable[Tier], *, leading: int = 1) -> Expected:
    """The `leading` ones of `figures` are the answer; the others are printed beside it."""
    main, *others = figures
    for one in figures[:leading]:
        if _agrees(asked, one):
            return _told(asked, Verdict.YES, one, [])
    seen: list[Candidate] = [main, *others]
    found: list[Candidate] = []
    for match in _searches(asked, main, others, tiers, seen):
        found += match
        if found and (asked.is_precise or any(one.value == asked.value for one in found)):
            break
    exact = [one for one in found if one.value == asked.value]
    if found:
        return _told(asked, Verdict.OTHERWISE, main, exact or found)
    counted = [one for one in seen if one.value]  # the nearest by how many times too large or too small it is
    nearest = sorted(counted, key=lambda one: max(one.value / asked.value, asked.value / one.value))[:1]
    return _told(asked, Verdict.NO, main, nearest)


def _agrees(asked: Asked, one: Candidate) -> bool:
    """GB are never FLOPs, but FLOPs and bytes may both be written without a unit."""
    return asked.agrees(one.value) and (one.is_bytes or not asked.is_bytes)


def _searches(
    asked: Asked, main: Candidate, others: Sequence[Candidate], tiers: Iterable[Tier], seen: list[Candidate]
) -> Iterator[list[Candidate]]:
    yield [one for one in others if _agrees(asked, one)]
    mixed = asked.in_other_bytes
    if mixed:
        unit, words = mixed
        sizes = [one for one in (main, *others) if one.is_bytes and unit.agrees(one.value)]
        yield [one._replace(sentence=f"{one.sentence} {words}") for one in sizes]
    for tier in tiers:
        if asked.digits < tier.digits:
            continue
        candidates = [one for one in tier.candidates() if one.value > 0 and one.value != main.value]
        seen += candidates
        yield [one for one in candidates if _agrees(asked, one)]
        yield _pairs(asked, main, candidates) if tier.pairs and asked.is_precise else []


def _pairs(asked: Asked, main: Candidate, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Two ways at once, whose changes add up. Nothing where many pairs would do."""
    counts = [one for one in candidates if one.is_bytes == main.is_bytes]
    found = {
        one.value + other.value - main.value: (one, other)
        for one, other in combinations(counts, 2)
        if one.name != other.name and asked.agrees(one.value + other.value - main.value)
    }
    if not 0 < len(found) <= MOST_PAIRS:
        return []
    return [
        Candidate(f"{one.name} and {other.name}", value, f"{one.sentence} and {other.sentence}")
        for value, (one, other) in found.items()
    ]


def _told(asked: Asked, verdict: Verdict, main: Candidate, found: Sequence[Candidate]) -> Expected:
    different: dict[int | Fraction, Candidate] = {}
    for one in found:
        different.setdefault(one.value, one)
    told = [Convention(one.name, round(one.value), one.sentence) for one in list(different.values())[:MOST_TOLD]]
    return Expected(asked.said, verdict, main.sentence, round(main.value), tuple(told))
