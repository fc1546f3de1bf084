"""Sizes by the letters that people write for them: `B x T x d`. Which letters is data (`presets/typed/sizes.yaml`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product
from math import prod

from archcalc.exercises.blanks import Shape
from archcalc.spec.data_files import shipped

MOST_MEANINGS = 64  # of all words of a working together


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


def size_of(word: str, place: int, axes: tuple[str, ...], right: Shape, sizes: Mapping[str, int]) -> int:
    """What a word stands for in one place of a shape: the axis that belongs there, else another size of the model."""
    if place < len(axes) and stands_for(word, axes[place]):
        return right[place]
    found = next((size for dim, size in sizes.items() if stands_for(word, dim)), None)
    if found is None:
        raise ValueError(f"'{word[:20]}' is no size of this sheet")
    return found
