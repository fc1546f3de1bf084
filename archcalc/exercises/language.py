"""The language of a worksheet: its texts, and how a model's names and sentences are said in it.

    language("fa").text("key")                          پاسخ‌نامه
    language("fa").label("decoder: block, one of 6")    رمزگشا: بلوک، یکی از ۶ تا

A language is one file of presets/languages. Pieces that are read from left to right in any language (formulas, shapes,
code) stand between ⟦ and ⟧; a renderer writes them as its format wants it. English is what models are written in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from archcalc.core.errors import InputError, did_you_mean
from archcalc.exercises.phrases import Phrases, piece
from archcalc.spec import paths
from archcalc.spec.yaml_reader import read

SOURCE = "en"
_CODE = re.compile(r"`[^`]+`")


@dataclass(frozen=True)
class Language:
    """By its code, with what its file says."""

    code: str
    data: dict[str, Any] = field(hash=False, repr=False)

    @property
    def is_source(self) -> bool:
        return self.code == SOURCE

    @property
    def direction(self) -> str:
        return str(self.data["direction"])

    def text(self, key: str, **values: str) -> str:
        """A text of the page, with what stands in its braces."""
        return str(self.data["page"][key]).format(**values)

    def title(self, question: str) -> str:
        return str(self.data["tasks"][question]["title"])

    def task(self, question: str) -> str:
        """What is to be counted, and by which convention."""
        return str(self.data["tasks"][question]["task"])

    def label(self, english: str) -> str:
        """The name of a figure; what has none in this language is written as it is."""
        return english if self.is_source else self._phrases.said(english) or piece(english)

    def note(self, english: str) -> str:
        """A sentence on the model."""
        return english if self.is_source else self._phrases.note(english)

    def meaning(self, english: str) -> str:
        """The sentence of a field; nothing where the language has none."""
        if self.is_source:
            return english
        return _CODE.sub(lambda found: piece(found[0]), self.data["meanings"].get(english, ""))

    def code_piece(self, text: str) -> str:
        """What is read from left to right."""
        return text if self.direction == "ltr" or not text else piece(text)

    def value(self, english: str) -> str:
        """The value of a field: code, but for the words of a sheet."""
        source = language(SOURCE)
        words = {source.text(key): self.text(key) for key in ("yes", "no", "as_above")}
        return words.get(english) or self.code_piece(english)

    @cached_property
    def _phrases(self) -> Phrases:
        return Phrases.of(self.data)


def language(code: str) -> Language:
    """By its code, such as fa; refuses others with those that there are."""
    files = paths.presets("languages")
    if code not in files:
        raise InputError(f"no language is called {code}", did_you_mean(code, files), field="--lang")
    return _read(code, files[code])


def known() -> Iterator[str]:
    """The codes of all languages."""
    yield from sorted(paths.presets("languages"))


@cache
def _read(code: str, file: Path) -> Language:
    return Language(code, dict(read(file.read_bytes(), str(file)).data))
