"""Rules of a library's file: which options and habits they speak of, and what they say.

refused: [{when: {zero: [2, 3]}, about: its distributed optimizer shards no gradients, hint: use --zero 1}]
recipes: [{when: {lora: any, weights: any}, recompute: full, about: …, source: …}]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ANY = "any"  # whatever is given, but nothing that switches an option off
OFF = (None, False, 0, 1, "none")
WORDS = ("when", "about", "hint", "source")  # keys of a rule that are no values


@dataclass(frozen=True)
class Rule:
    """Holds where every option or habit that it names has one of some values; without any, always.

    `values` are what it says of other options, by their names."""

    when: tuple[tuple[str, tuple[Any, ...]], ...]
    about: str = ""
    hint: str = ""
    source: str = ""
    values: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> Rule:
        said = written.get("when", {}).items()
        when = ((name, tuple(one) if isinstance(one, list) else (one,)) for name, one in said)
        words = {word: written[word] for word in WORDS[1:] if word in written}
        values = tuple((name, value) for name, value in written.items() if name not in WORDS)
        return cls(tuple(when), values=values, **words)

    @property
    def first(self) -> str:
        """The option or habit that it is about."""
        return self.when[0][0]

    def holds(self, said: Mapping[str, Any]) -> bool:
        """Of an option that takes several values, one of those that are named is enough."""
        for name, values in self.when:
            given = said.get(name)
            each = given if isinstance(given, tuple) else (given,)
            if not any(one in values or (ANY in values and one not in OFF) for one in each):
                return False
        return True
