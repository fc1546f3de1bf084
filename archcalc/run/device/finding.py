"""Finds a device by what people and drivers call it: `3090`, `NVIDIA A100-SXM4-80GB`, `MacBook Pro M4 Max 128GB`.

A name is taken apart: lower case, without makers, words that may be left out, memory sizes and signs. Which words may
be left out is data (`presets/typed/devices.yaml`). What is left is the key.
Among devices of one key the size decides; without a size, the device that goes by the bare key: this is
how a file says that it is the usual variant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from archcalc.run.device import files
from archcalc.run.device.spec import Device
from archcalc.spec import paths
from archcalc.spec.data_files import document

_BARE_SIZE = re.compile(r"[\s_-](\d+)$")  # `m3 max 64`


@dataclass(frozen=True)
class Found:
    """Devices that a name may mean; `usual` is the one of them that goes by the bare name. `is_open` says that the name
    leaves the variant open: it is no file's own, and gives no memory size."""

    names: tuple[str, ...]
    usual: str | None = None
    is_open: bool = False


@dataclass(frozen=True)
class Index:
    """All devices by their spellings."""

    devices: dict[str, Device]
    habits: Habits

    @cached_property
    def spelled(self) -> dict[str, str]:
        """The device of each spelling, as letters and digits; a file's own name wins over an alias."""
        found = {letters(each.name): name for name, each in self.devices.items()}
        found |= {letters(alias): name for name, each in self.devices.items() for alias in each.aliases}
        return found | {letters(name): name for name in self.devices}

    @cached_property
    def typed(self) -> dict[str, tuple[Typed, ...]]:
        """Every spelling of each device, taken apart: the name of the file, the title, then aliases."""
        spellings = {name: (name, each.name, *each.aliases) for name, each in self.devices.items()}
        return {name: tuple(map(self.habits.typed, forms)) for name, forms in spellings.items()}

    def found(self, text: str) -> Found:
        """By spelling, then by key and size, then by words."""
        exact = self.spelled.get(letters(text))
        if exact:
            return Found((exact,), is_open=not self.habits.typed(text).gibibytes)
        return self._by_key(text) or Found(tuple(self._by_words(text)))

    def own_families(self, name: str) -> set[str]:
        """A device by the name of its file and its title, without memory and mounting."""
        return {form.family for form in self.typed[name][:2]}

    def family(self, name: str) -> list[str]:
        """Other variants of a device: the same but for memory and mounting."""
        own = self.own_families(name)
        return [other for other in self.devices if other != name and own & self.own_families(other)]

    def _by_key(self, text: str) -> Found | None:
        """With a size that has its unit, else with a number at the end as the size, else whatever the mounting."""
        bare = _BARE_SIZE.sub(lambda number: f" {number[1]}gb", text.strip())
        readings = [self.habits.typed(form) for form in dict.fromkeys((text, bare))]
        tried = [(key, asked) for asked in readings for key in dict.fromkeys((asked.key, asked.family)) if key]
        hits = (self._with_key(key, asked) for key, asked in tried)
        return next((each for each in hits if each), None)

    def _with_key(self, key: str, asked: Typed) -> Found | None:
        """Devices of that key that have the sizes; the usual one goes by the key without a size."""
        having = {name: [form for form in forms if form.key == key] for name, forms in self.typed.items()}
        hits = [name for name, forms in having.items() if forms and asked.fits(self.devices[name])]
        usual = [name for name in hits if not all(form.gibibytes for form in having[name])]
        only = usual[0] if len(usual) == 1 else None
        return Found(tuple(hits), only, is_open=not asked.gibibytes) if hits else None

    def _by_words(self, text: str) -> Iterator[str]:
        """Devices whose spellings have the words of the name, perhaps with letters behind them: mi300x is one of mi300,
        h100 is none of h10."""
        asked, words = self.habits.typed(text), self.habits.whole_words(text)
        forms = [re.compile(rf"{re.escape(word)}(\D.*)?") for word in words]
        for name, each in self.devices.items():
            own = self.habits.whole_words(" ".join((name, each.name, *each.aliases)))
            if forms and asked.fits(each) and all(any(map(form.fullmatch, own)) for form in forms):
                yield name


def found(text: str) -> Found:
    """By the name of a file, for which no other has to be read; else by what any file says."""
    name = as_file(text)
    return Found((name,)) if name in paths.presets("gpus") else index().found(text)


def index() -> Index:
    """All devices that there are now."""
    return _index(tuple(files.files().items()), paths.shipped("typed")["devices"])


@cache
def _index(_listed: tuple[tuple[str, Path], ...], habits: Path) -> Index:
    """Made once for the files that there are."""
    return Index(files.catalog(), Habits.of(document(habits).data, files.makers()))


def as_file(text: str) -> str:
    """`RTX 4090` and `rtx_4090` as the file is called."""
    return "-".join(re.split(r"[\s_-]+", text.strip().lower()))


# Names, taken apart

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
