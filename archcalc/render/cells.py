"""How many columns of a terminal a text takes: combining marks none, wide characters two."""

from __future__ import annotations

import unicodedata


def width(text: str) -> int:
    if text.isascii():
        return len(text)
    seen = [character for character in text if not unicodedata.combining(character)]
    return len(seen) + sum(unicodedata.east_asian_width(character) in "WF" for character in seen)


def cut(text: str, columns: int) -> str:
    """As much of it as fits, ending in `…` where something is left out."""
    if width(text) <= columns:
        return text
    while text and width(text) > columns - 1:
        text = text[:-1]
    return f"{text}…"


def cut_inside(text: str, columns: int) -> str:
    """As much of it as fits, with `…` before its second half where something is left out."""
    if width(text) <= columns:
        return text
    end = text[len(text) - columns * 2 // 3 :]
    return f"{cut(text, columns - width(end))}{end}"
