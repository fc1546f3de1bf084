"""Which convention gives an expected number: the figure itself, others of the report, other ways of counting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from archcalc.exercises.expect.asked import Asked
from archcalc.report.expected import Convention, Expected, Verdict

MOST_TOLD = 2  # conventions that a sentence names
MOST_PAIRS = 2  # pairs that may explain a number: where more do, none can be meant


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
    return _told(asked, Verdict.NO, main, _nearest(asked, seen))


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


def _nearest(asked: Asked, seen: Sequence[Candidate]) -> list[Candidate]:
    """By how many times too large or too small it is."""
    counted = [one for one in seen if one.value]
    return sorted(counted, key=lambda one: max(one.value / asked.value, asked.value / one.value))[:1]


def _told(asked: Asked, verdict: Verdict, main: Candidate, found: Sequence[Candidate]) -> Expected:
    different: dict[int | Fraction, Candidate] = {}
    for one in found:
        different.setdefault(one.value, one)
    told = [Convention(one.name, round(one.value), one.sentence) for one in list(different.values())[:MOST_TOLD]]
    return Expected(asked.said, verdict, main.sentence, round(main.value), tuple(told))
