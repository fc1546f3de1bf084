"""Marking: every answer is right, follows from an earlier mistake, or is wrong, with the mistake that explains it."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

from archcalc.exercises.answers import Filled
from archcalc.exercises.blanks import Blank, Shape
from archcalc.exercises.explaining import Explained, Explanations
from archcalc.exercises.mistakes.in_a_shape import wrong_shape
from archcalc.exercises.steps import Key, derived


class Standing(StrEnum):
    RIGHT = "right"
    FOLLOWS = "follows"  # from an earlier wrong answer, by a right step
    WRONG = "wrong"
    OPEN = "open"  # not answered


class Mark(NamedTuple):
    """One blank, marked. `mistake` is the name of the mistake that explains a wrong answer, where one does."""

    blank: Blank
    said: str
    standing: Standing
    mistake: str = ""
    remark: str = ""


def marked(filled: Filled) -> tuple[Mark, ...]:
    return tuple(_Marking(filled).marks())


class _Marking:
    """One file of answers, blank by blank."""

    def __init__(self, filled: Filled) -> None:
        self.filled = filled
        self.explanations = Explanations(filled.sheet)
        self.wrong: dict[Key, Blank] = {}  # numbers that are wrong, by their figure
        self.misread: dict[Explained, Blank] = {}  # misreadings that were met, and where first

    def marks(self) -> Iterator[Mark]:
        numbers = [blank for blank in self.filled.sheet.blanks if isinstance(blank.answer, int)]
        self.wrong = {blank.step.key: blank for blank in numbers if blank.step and self._is_wrong(blank)}
        yield from map(self._mark, self.filled.sheet.blanks)

    def _given(self, blank: Blank) -> Fraction | Shape | None:
        return self.filled.answers.get((blank.question, blank.name))

    def _is_wrong(self, blank: Blank) -> bool:
        given = self._given(blank)
        return given is not None and given != blank.answer

    def _mark(self, blank: Blank) -> Mark:
        given, said = self._given(blank), self.filled.said.get((blank.question, blank.name), "")
        if given is None:
            return Mark(blank, "", Standing.OPEN)
        if given == blank.answer:
            return Mark(blank, said, Standing.RIGHT)
        return self._wrong_shape(blank, said, given) if isinstance(given, tuple) else self._wrong(blank, said, given)

    def _wrong(self, blank: Blank, said: str, given: Fraction) -> Mark:
        earlier = self._earlier(blank)
        if earlier and blank.step and given in derived(blank.step, earlier):
            numbers = ", ".join(self.wrong[key].number for key in earlier)
            return Mark(blank, said, Standing.FOLLOWS, "", f"a right step from a wrong answer: {numbers}")
        found = self.explanations.of_number(blank, given, earlier) or Explained("", _distance(blank, given))
        return Mark(blank, said, Standing.WRONG, *found)

    def _earlier(self, blank: Blank) -> dict[Key, int]:
        """Wrong answers to what this figure is made of."""
        assert blank.step is not None
        keys = [key for key in blank.step.below if key in self.wrong and key != blank.step.key]
        found = {key: self._given(self.wrong[key]) for key in keys}
        whole = {key: value for key, value in found.items() if isinstance(value, Fraction) and value.denominator == 1}
        return {key: int(value) for key, value in whole.items()}

    def _wrong_shape(self, blank: Blank, said: str, given: Shape) -> Mark:
        found = self.explanations.of_shape(blank, given)
        if found is None:
            return Mark(blank, said, Standing.WRONG, *wrong_shape(blank, given, self.explanations.sizes))
        if found in self.misread:
            remark = f"follows from {self.misread[found].number}: {found.sentence}"
            return Mark(blank, said, Standing.FOLLOWS, "", remark)
        self.misread[found] = blank
        return Mark(blank, said, Standing.WRONG, *found)


def _distance(blank: Blank, given: Fraction) -> str:
    """How far off it is: so many times the right number, or so many too many."""
    assert isinstance(blank.answer, int)
    if given > 0 and (given / blank.answer).denominator == 1:
        return f"{int(given / blank.answer):,} times too large"
    if given > 0 and (blank.answer / given).denominator == 1:
        return f"{int(blank.answer / given):,} times too small"
    apart = abs(given - blank.answer)
    number = f"{int(apart):,}" if apart.denominator == 1 else f"{float(apart):,.3g}"
    return f"{number} too {'many' if given > blank.answer else 'few'}"
