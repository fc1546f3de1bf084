"""Names of layers and sentences on a model in another language, put together from those that its file has.

    decoder: masked self-attention: q, k and v, each     each of its names is a term, what joins them a pattern

In patterns {a} and {b} are names, {c} one word of a spec, {n} and {m} whole numbers, {o} an ordinal, and {x}, {y}, {z}
and {w} code as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

OPEN, CLOSE = "⟦", "⟧"  # around what is read from left to right
FROM_LEFT, AS_BEFORE = "\u2066", "\u2069"  # the same as Unicode has it
UNSEEN_SIGNS = f"\u200c{FROM_LEFT}{AS_BEFORE}"  # and what keeps letters of a word apart; a model's own are escaped
_FORMS = {"a": "(.+?)", "b": "(.+)", "c": "([a-z]{3}[a-z0-9_+-]*?)", "o": r"(\d+)(?:st|nd|rd|th)"}
_FORMS |= {**dict.fromkeys("nm", r"(\d[\d,]*)"), **dict.fromkeys("wxyz", "(.+?)")}
_PLACE = re.compile(r"\{([a-z])\}")
_WORD = re.compile(r"[a-z]{3,}")  # by which a name differs from a formula
_LATIN = "0123456789"

Pattern = tuple[re.Pattern[str], tuple[str, ...], str]


def piece(text: str) -> str:
    """Read from left to right; marks within are not ours."""
    return f"{OPEN}{text.replace(OPEN, '[').replace(CLOSE, ']')}{CLOSE}"


@dataclass(frozen=True)
class Phrases:
    """The terms, patterns and sentences of one language."""

    terms: dict[str, str]
    patterns: tuple[Pattern, ...]
    notes: tuple[Pattern, ...]
    digits: str
    in_formulas: frozenset[str]  # words that stand in formulas as they are
    known: dict[str, str | None] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, data: dict[str, Any]) -> Phrases:
        patterns, notes = (tuple(_pattern(*pair) for pair in data[key]) for key in ("patterns", "notes"))
        return cls(dict(data["terms"]), patterns, notes, data["digits"], frozenset(data["in_formulas"]))

    def note(self, english: str) -> str:
        return next(filter(None, (self._filled(one, english) for one in self.notes)), None) or piece(english)

    def said(self, english: str) -> str | None:
        """None where a word of it has no counterpart."""
        if english not in self.known:
            self.known[english] = self._said(english)
        return self.known[english]

    def _said(self, english: str) -> str | None:
        if english in self.terms:
            return self.terms[english]
        parts = _parts(english)
        told = [self.said(part) for part in parts] if len(parts) > 1 else [None]
        if None not in told:
            return ": ".join(part or "" for part in told)
        if found := next(filter(None, (self._filled(one, english) for one in self.patterns)), None):
            return found
        if not set(_WORD.findall(english.lower())) - self.in_formulas:
            return piece(english)
        spaced = english.replace("_", " ")  # a part of a line, whose other names have spaces
        return self.said(spaced) if spaced != english and " " not in english else None

    def _filled(self, pattern: Pattern, english: str) -> str | None:
        form, places, template = pattern
        match = form.fullmatch(english)
        if not match:
            return None
        values = {name: self._value(name, text) for name, text in zip(places, match.groups(), strict=True)}
        if None in values.values():
            return None
        return _PLACE.sub(lambda place: values[place[1]] or "", template)

    def _value(self, name: str, text: str) -> str | None:
        if name in "abc":
            return self.said(text)
        if name in "nmo":
            return text.translate(str.maketrans(_LATIN + ",", self.digits + "٬"))
        return text


def _pattern(english: str, said: str) -> Pattern:
    pieces, places = _PLACE.split(english), tuple(_PLACE.findall(english))
    form = "".join(_FORMS[text] if at % 2 else re.escape(text) for at, text in enumerate(pieces))
    return re.compile(form), places, said


def _parts(text: str) -> list[str]:
    """Layers around a name: split at colons, but for those in brackets."""
    depth, parts, start = 0, [], 0
    for at, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if not depth and text.startswith(": ", at):
            parts.append(text[start:at])
            start = at + 2
    return [*parts, text[start:]]
