"""Marking: every answer is right, follows from an earlier mistake, or is wrong, with the mistake that explains it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from fractions import Fraction
from math import prod
from typing import NamedTuple

from archcalc.exercises.answers import Filled
from archcalc.exercises.arithmetic import Number, is_rounded
from archcalc.exercises.blanks import Blank, Shape
from archcalc.exercises.cells import OPEN, Cell
from archcalc.exercises.explaining import Explained, Explanations
from archcalc.exercises.steps import Key, derived

ROUNDED = "right to the digits given; the exact number is asked"


class Standing(StrEnum):
    RIGHT = "right"
    ROUNDED = "rounded"  # right to the digits that were given
    FOLLOWS = "follows"  # from an earlier wrong answer, by a right step
    WRONG = "wrong"
    UNREADABLE = "unreadable"
    OPEN = "open"  # not answered


class Mark(NamedTuple):
    """One blank, marked. `mistake` is the name of the mistake that explains a wrong answer, where one does."""

    blank: Blank
    said: str
    standing: Standing
    mistake: str = ""
    remark: str = ""


def marked(filled: Filled, explanations: Explanations | None = None) -> tuple[Mark, ...]:
    """`explanations` may be those of another file with the same sheet."""
    return tuple(_Marking(filled, explanations or Explanations(filled.sheet)).marks())


class _Marking:
    """One file of answers, blank by blank."""

    def __init__(self, filled: Filled, explanations: Explanations) -> None:
        self.filled, self.explanations = filled, explanations
        self.wrong: dict[Key, Blank] = {}  # numbers that are wrong, by their figure
        self.misread: dict[Explained, Blank] = {}  # misreadings that were met, and where first

    def marks(self) -> Iterator[Mark]:
        for blank in self.filled.sheet.blanks:
            number = self._cell(blank).number
            if blank.step and number is not None and blank.answer not in (number.value, number.otherwise):
                self.wrong[blank.step.key] = blank
        yield from map(self._mark, self.filled.sheet.blanks)

    def _cell(self, blank: Blank) -> Cell:
        return self.filled.cells.get((blank.question, blank.name), OPEN)

    def _mark(self, blank: Blank) -> Mark:
        cell = self._cell(blank)
        if cell.is_open:
            return Mark(blank, cell.said, Standing.OPEN)
        if cell.trouble:
            return Mark(blank, cell.said, Standing.UNREADABLE, "", cell.trouble)
        if cell.shape is not None:
            return self._shape(blank, cell.said, cell.shape)
        assert cell.number is not None
        return self._number(blank, cell.said, cell.number)

    def _number(self, blank: Blank, said: str, number: Number) -> Mark:
        assert isinstance(blank.answer, int)
        if blank.answer in (number.value, number.otherwise):
            remark = f"the working comes to {_plain(number.worked)}" if number.worked is not None else ""
            if number.value != blank.answer:
                remark = f"read as {blank.answer:,}: the point or comma separates thousands"
            return Mark(blank, said, Standing.RIGHT, "", remark)
        wrong, unit = self._wrong(blank, said, number.value), number.last_digit
        is_explained = number.is_plain and wrong.mistake
        if unit and not is_explained and is_rounded(number.value, Fraction(blank.answer), unit):
            return Mark(blank, said, Standing.ROUNDED, "", ROUNDED)
        return wrong

    def _wrong(self, blank: Blank, said: str, given: Fraction) -> Mark:
        assert blank.step is not None
        keys = [key for key in blank.step.below if key in self.wrong and key != blank.step.key]
        found = {key: self._cell(self.wrong[key]).value for key in keys}  # wrong answers to what it is made of
        earlier = {key: int(one) for key, one in found.items() if isinstance(one, Fraction) and one.denominator == 1}
        if earlier and given in derived(blank.step, earlier):
            numbers = ", ".join(self.wrong[key].number for key in earlier)
            return Mark(blank, said, Standing.FOLLOWS, "", f"a right step from a wrong answer: {numbers}")
        explained = self.explanations.of_number(blank, given, earlier) or Explained("", _distance(blank, given))
        return Mark(blank, said, Standing.WRONG, *explained)

    def _shape(self, blank: Blank, said: str, given: Shape) -> Mark:
        if given == blank.answer:
            return Mark(blank, said, Standing.RIGHT)
        found = self.explanations.of_shape(blank, given)
        if found is None:
            return Mark(blank, said, Standing.WRONG, *wrong_shape(blank, given, self.explanations.sizes))
        if found in self.misread:
            remark = f"follows from {self.misread[found].number}: {found.sentence}"
            return Mark(blank, said, Standing.FOLLOWS, "", remark)
        self.misread[found] = blank
        return Mark(blank, said, Standing.WRONG, *found)


def _plain(value: Fraction) -> str:
    return f"{int(value):,}" if value.denominator == 1 else f"{float(value):,.3g}"


def _distance(blank: Blank, given: Fraction) -> str:
    """How far off it is: so many times the right number, or so many too many."""
    assert isinstance(blank.answer, int)
    if given > 0 and blank.answer and (given / blank.answer).denominator == 1:
        return f"{int(given / blank.answer):,} times too large"
    if given > 0 and blank.answer and (blank.answer / given).denominator == 1:
        return f"{int(blank.answer / given):,} times too small"
    return f"{_plain(abs(given - blank.answer))} too {'many' if given > blank.answer else 'few'}"


# Mistakes in a shape: an axis forgotten, too many, of another size, or in another place.
BATCH, AXIS, ORDER = "forgotten batch", "forgotten axis", "axes in another order"
MORE, MERGED, SIZE = "one axis too many", "axes merged or split", "another size on an axis"
WrongShape = tuple[str, str]  # the name of a mistake, and a sentence about this shape
NAMES = (BATCH, AXIS, ORDER, MORE, MERGED, SIZE)


def wrong_shape(blank: Blank, given: Shape, sizes: dict[str, int]) -> WrongShape:
    """What is wrong with it, as far as the axes tell; `sizes` are those of the model by name."""
    right = blank.answer
    assert isinstance(right, tuple)
    axes = [f"{name} ({size:,})" for name, size in zip(blank.axes, right, strict=True)]
    missing = _missing(right, given)
    if missing is not None:
        name = BATCH if blank.axes[missing] == "batch" else AXIS
        return (name, f"the axis {axes[missing]} is missing")
    if Counter(right) == Counter(given):
        return (ORDER, f"the axes are {' × '.join(axes)}, in this order")
    if len(right) == len(given):
        return _wrong_sizes(blank, given, axes, sizes)
    if _missing(given, right) is not None:
        return (MORE, f"there is one axis too many: {' × '.join(axes)}")
    if prod(right) == prod(given):
        return (MERGED, f"as many numbers, but along other axes: {' × '.join(axes)}")
    return ("", f"expected {len(right)} axes: {' × '.join(blank.axes)}")


def _missing(longer: Shape, shorter: Shape) -> int | None:
    """The axis without which the longer shape is the shorter one."""
    if len(longer) != len(shorter) + 1:
        return None
    return next((place for place in range(len(longer)) if longer[:place] + longer[place + 1 :] == shorter), None)


def _wrong_sizes(blank: Blank, given: Shape, axes: list[str], sizes: dict[str, int]) -> WrongShape:
    assert isinstance(blank.answer, tuple)
    wrong = [place for place, size in enumerate(blank.answer) if given[place] != size]
    if len(wrong) > 1:
        which = ", ".join(blank.axes[place] for place in wrong)
        return ("", f"{len(wrong)} axes are of another size: {which}")
    place = wrong[0]
    other = next((name for name, size in sizes.items() if size == given[place]), "")
    taken = f", not {other} ({given[place]:,})" if other else ""
    name = SIZE if other else ""
    return (name, f"axis {place + 1} is {axes[place] if other else blank.axes[place]}{taken}")
