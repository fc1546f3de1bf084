"""A word that a field does not take: the nearest that it takes, and in what they differ.

Which words people write is data: `presets/nearest`, a file for each family, by field.
"""

from __future__ import annotations

from collections.abc import Iterable

from archcalc.core.errors import Path, dotted
from archcalc.spec.other_names import plain, table


def nearest(family: str, path: Path, word: object, choices: Iterable[str]) -> str:
    """`the nearest is gru: …`, or nothing where the word is not known, or not of this field."""
    names, known = [name for name in path if isinstance(name, str)], table(family, "nearest")
    ends = (dotted(tuple(names[start:])) for start in range(len(names)))  # `position.kind` of `decoder.position.kind`
    entry = next((known[end] for end in ends if end in known), {}).get(plain(str(word)))
    if entry is None or entry["use"] not in choices:
        return ""
    return f"the nearest is `{entry['use']}`: {entry['why']}"
