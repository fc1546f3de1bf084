"""Numbers of things, and lists of them, in words."""

from __future__ import annotations

from collections.abc import Iterable


def counted(number: int, one: str, several: str = "") -> str:
    """`1 preset`, `3 presets`; `several` where it takes more than an s."""
    if number == 1:
        return f"1 {one}"
    return f"{number} {several or one + 's'}"


def enumeration(words: Iterable[str]) -> str:
    """`q, k and v`."""
    *first, last = words
    if not first:
        return last
    return f"{', '.join(first)} and {last}"
