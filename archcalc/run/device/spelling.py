"""A device's name, taken apart: lower case, without makers, words that may be left out, memory sizes and signs.

Which words may be left out is data (`presets/typed/devices.yaml`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from archcalc.run.device.spec import Device

Phrase = tuple[str, ...]

_SIZE = re.compile(r"(?<![a-z0-9.])(\d+(?:\.\d+)?)\s*(?:gib|gb|g)(?![a-z0-9])")
_WORD = re.compile(r"[a-z]+|\d+")  # `rtx4090` and `RTX 4090` have the same words
_MARK = re.compile(r"\((?:r|tm)\)")  # Intel(R) Arc(TM)
_NEAR = 0.01  # of a driver's figure, which people round


@dataclass(frozen=True)
class Typed:
    """The key of a name, the same without how the device is mounted, and the memory sizes in it."""

    key: str
    family: str
    gibibytes: tuple[float, ...]

    def fits(self, each: Device) -> bool:
        """Every size in the name is the nameplate's, or about what the driver reports."""
        sizes = (gibibytes * 2**30 for gibibytes in self.gibibytes)
        return all(size == each.memory.bytes or abs(each.capacity - size) <= _NEAR * size for size in sizes)


@dataclass(frozen=True)
class Habits:
    """Words that may be left out of a name, and words that say how a device is mounted."""

    optional: tuple[Phrase, ...]
    forms: tuple[Phrase, ...]

    @classmethod
    def of(cls, data: dict[str, Any], makers: Iterable[str]) -> Habits:
        optional = (*([maker] for maker in makers), *data["optional"])
        return cls(tuple(map(_phrase, optional)), tuple(_phrase([form]) for form in data["forms"]))

    def typed(self, text: str) -> Typed:
        """Without sizes and without what may be left out."""
        words = _without(self.optional, _WORD.findall(_plain(text)))
        sizes = tuple(float(size) for size in _SIZE.findall(text.lower()))
        return Typed("".join(words), "".join(_without(self.forms, words)), sizes)

    def whole_words(self, text: str) -> set[str]:
        """The same words, not split between letters and digits."""
        single = {"".join(phrase) for phrase in self.optional}
        return set(re.findall(r"[a-z0-9]+", _plain(text))) - single


def letters(text: str) -> str:
    """Letters and digits alone: `RTX 4090` is `rtx4090`."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _plain(text: str) -> str:
    """Lower case, without sizes and trade marks."""
    return _MARK.sub(" ", _SIZE.sub(" ", text.lower()))


def _phrase(words: Iterable[str]) -> Phrase:
    """`hbm2e` as names are split: between letters and digits."""
    return tuple(_WORD.findall(" ".join(words).lower()))


def _without(phrases: Iterable[Phrase], words: list[str]) -> list[str]:
    """Without these phrases; a name that is nothing else keeps them."""
    left = list(words)
    for phrase in phrases:
        starts = [at for at in range(len(left)) if tuple(left[at : at + len(phrase)]) == phrase]
        for at in reversed(starts):
            del left[at : at + len(phrase)]
    return left or words
