"""One cell of a file of answers: what was written, and what it says as far as it can be read. Reading never fails.

Sizes may be written by the letters that people have for them, `B x T x d`: which letters is data
(`presets/typed/sizes.yaml`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from archcalc.exercises import arithmetic
from archcalc.exercises.arithmetic import Number, ungrouped, unified
from archcalc.exercises.blanks import Blank, Shape
from archcalc.spec.data_files import shipped
from archcalc.spec.node import shown

Sizes = Mapping[str, int]
_NOTHING = re.compile(r"[-–—_.?…/\s]*|n/?a|tbd|todo", re.IGNORECASE)
_AROUND = re.compile(r"^(?:torch\.size|shape|tensor)?\s*=?\s*[(\[{<]*\s*|\s*[)\]}>]*$", re.IGNORECASE)
_COMMAS = re.compile(r"\s*[,;]\s*")
_NO_GROUP = re.compile(r"[,;](?!\d{3}(?!\d))")  # a comma that separates no thousands
_TIMES = re.compile(r"\s*(?:\*|\bby\b|(?<=[\s\d)])[xX](?=[\s\d(]))\s*")
_DIGIT = re.compile(r"\d")
MOST_MEANINGS = 64  # of all words of a working together
_LONGEST_WORDS = 40  # characters of a cell that a message quotes


@dataclass(frozen=True)
class Cell:
    """An answer as it was written, and its number or shape; `trouble` says why it has neither."""

    said: str
    number: Number | None = None
    shape: Shape | None = None
    trouble: str = ""

    @property
    def is_open(self) -> bool:
        return self.number is None and self.shape is None and not self.trouble

    @property
    def value(self) -> Fraction | Shape | None:
        return self.number.value if self.number else self.shape


OPEN = Cell("")


def read_cell(value: Any, blank: Blank, sizes: Sizes) -> Cell:
    """`sizes` are those of the model by name, for answers such as `B x T x d`."""
    said = _as_said(value)
    if value is None or _NOTHING.fullmatch(said):
        return Cell(said)
    try:
        if isinstance(blank.answer, tuple):
            return Cell(said, shape=_shape(value, blank, sizes))
        return Cell(said, number=_number(value, blank, sizes))
    except ValueError as reason:
        return Cell(said, trouble=f"cannot be read: {reason if _DIGIT.search(said) else 'it has no number'}")


def _as_said(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, list):
        return f"[{', '.join(map(_as_said, value))}]"
    is_number = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= arithmetic.LARGEST
    return f"{value:,}" if is_number else shown(value)


def _number(value: Any, blank: Blank, sizes: Sizes) -> Number:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("it is no number")
    if isinstance(value, int) and abs(value) > arithmetic.LARGEST:
        raise ValueError("a larger number than any figure of a worksheet")
    text, words = value if isinstance(value, str) else repr(value), sizes_by_word(sizes)
    try:
        return arithmetic.number(text, words)
    except ValueError:
        # A letter that may be several sizes is the one with which the answer is right; otherwise it is none.
        readings = (arithmetic.number(text, meant) for meant in meanings(unified(text), sizes))
        if found := next((reading for reading in readings if reading.value == blank.answer), None):
            return found
        raise


def _shape(value: Any, blank: Blank, sizes: Sizes) -> Shape:
    if isinstance(value, bool) or not isinstance(value, str | int | list):
        raise ValueError("it is no shape")
    axes = list(map(_as_said, value)) if isinstance(value, list) else _axes(_as_said(value))
    if not axes or not all(axes) or len(axes) > arithmetic.DEEPEST:
        raise ValueError("it is no shape")
    assert isinstance(blank.answer, tuple)
    return tuple(_axis(word, place, blank, sizes) for place, word in enumerate(axes))


def _axes(text: str) -> list[str]:
    """The pieces between commas, ×, or spaces; where × separates, commas may be those of thousands."""
    if len(text) > arithmetic.LONGEST:
        raise ValueError(f"more than {arithmetic.LONGEST} characters")
    bare = _AROUND.sub("", unified(text).rpartition("=")[2].replace("|", "").strip())
    if _COMMAS.search(bare) and (_NO_GROUP.search(bare) or not _TIMES.search(bare)):
        return _COMMAS.split(bare)
    pieces = _TIMES.split(ungrouped(bare))
    return pieces if len(pieces) > 1 else re.split(r"[xX\s]+", bare)


def _axis(word: str, place: int, blank: Blank, sizes: Sizes) -> int:
    """A number, or a word: it stands for the axis that belongs there, else for another size of the model."""
    assert isinstance(blank.answer, tuple)
    if not re.fullmatch(r"[^\W\d]\w*", word):
        found = arithmetic.evaluated(ungrouped(unified(word)), sizes_by_word(sizes))
        if found.denominator != 1 or found <= 0:
            raise ValueError(f"an axis has a whole number of places, not {word[:_LONGEST_WORDS]}")
        return int(found)
    if place < len(blank.axes) and stands_for(word, blank.axes[place]):
        return blank.answer[place]
    for dim, size in sizes.items():
        if stands_for(word, dim):
            return size
    raise ValueError(f"'{word[:20]}' is no size of this sheet")


def words_for(axis: str) -> set[str]:
    """What may be written for an axis; `channels_2` is one of the channels, `tgt_seq` a sequence."""
    numberless = axis.rstrip("0123456789").rstrip("_")
    kinds = (numberless, numberless.rpartition("_")[2])
    letters = shipped("typed", "sizes")  # what is written for each dim, by its name
    return {axis, *kinds, *(str(letter) for kind in kinds for letter in letters.get(kind, ()))}


def stands_for(word: str, axis: str) -> bool:
    return bool({word, word.lower()} & words_for(axis))


def sizes_by_word(sizes: Mapping[str, int]) -> dict[str, int]:
    """Every word that can only mean one size of the model: its dims by name, and letters that no two of them share."""
    found: dict[str, set[int]] = {}
    for dim, size in sizes.items():
        for word in words_for(dim):
            found.setdefault(word, set()).add(size)
    sure = {word: one.pop() for word, one in found.items() if len(one) == 1}
    return {**sure, **sizes}


def meanings(text: str, sizes: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """All that the words of a working may stand for, where that is not too much: `d` is a model's width or a head's."""
    words = dict.fromkeys(re.findall(r"[^\W\d]\w*", text))
    choices = {word: sorted({size for dim, size in sizes.items() if stands_for(word, dim)}) for word in words}
    known = {word: found for word, found in choices.items() if found}
    if prod(map(len, known.values())) <= MOST_MEANINGS:
        yield from (dict(zip(known, chosen, strict=True)) for chosen in product(*known.values()))
