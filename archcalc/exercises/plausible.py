"""What to say where several mistakes explain one answer equally, and where only two together do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

MOST_SINGLE = 400  # mistakes of which pairs are tried: with more, some pair would explain any number
MOST_PAIRS = 2  # pairs that may explain an answer: where more do, none can be meant


class Explained(NamedTuple):
    """The name of a mistake, and a sentence about this answer."""

    mistake: str
    sentence: str


def one_of(found: Sequence[Explained]) -> Explained:
    """The first, and the next one that is as likely, without accusing of either."""
    different = list({one.sentence: one for one in reversed(found)}.values())[::-1]
    if len(different) == 1:
        return different[0]
    return Explained(different[0].mistake, f"could be: {different[0].sentence}; or: {different[1].sentence}")


def two_mistakes(
    given: Fraction,
    right: int,
    kinds: Iterable[Iterable[tuple[Any, Explained]]],
    units: Sequence[tuple[str, Fraction, str]],
) -> Explained | None:
    """Two of one kind that add up, or one and another unit. Nothing where many pairs would do."""
    found: list[Explained] = []
    for single in kinds:
        each = {(value - right, one): one for value, one in single if isinstance(value, int) and value != right}
        if len(each) <= MOST_SINGLE:
            found += [*_sums(given - right, each), *_in_units(given, right, each, units)]
    return at_most_two(found)


def at_most_two(found: Iterable[Explained]) -> Explained | None:
    """The first of a few; none of many."""
    pairs = list(dict.fromkeys(found))
    if 0 < len(pairs) <= MOST_PAIRS:
        return pairs[0]
    return None


Changes = dict[tuple[int, Explained], Explained]  # how far a mistake leads astray, and the mistake


def _sums(apart: Fraction, each: Changes) -> Iterable[Explained]:
    by_change: dict[int, list[Explained]] = {}
    for (change, _), one in each.items():
        by_change.setdefault(change, []).append(one)
    for (change, _), one in each.items():
        others = by_change.get(int(apart - change), []) if apart.denominator == 1 else []
        yield from (both(one, other) for other in others if one < other)


def _in_units(
    given: Fraction, right: int, each: Changes, units: Iterable[tuple[str, Fraction, str]]
) -> Iterable[Explained]:
    for name, factor, sentence in units:
        wanted = given / factor - right
        yield from (both(one, Explained(name, sentence)) for (change, _), one in each.items() if change == wanted)


def both(one: Explained, other: Explained) -> Explained:
    """Two mistakes as one."""
    words = f"could be two mistakes: {one.sentence}; and: {other.sentence}"
    return Explained(" and ".join(dict.fromkeys((one.mistake, other.mistake))), words)
