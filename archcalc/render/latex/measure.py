"""How wide a text comes out in TeX's own font, in em: near enough to choose a size of type, and rather too wide."""

from __future__ import annotations

import unicodedata

from archcalc.render.latex.text import spelt, text

USUAL, CAPITAL, WIDE, SPELT = 0.53, 0.73, 0.9, 5.3
_NARROW = {**dict.fromkeys("ijl.,:;'!|", 0.3), **dict.fromkeys("frst()[]-` ", 0.4), **dict.fromkeys("0123456789", 0.5)}
_WIDE = dict.fromkeys("mMwW%…@×−+=<>≤≥→÷", WIDE)
SCRIPT = 0.8  # of a subscript, against what it stands under
BOLD = 1.17


def width(words: str) -> float:
    return sum(map(_character, words))


def _character(character: str) -> float:
    known = _NARROW.get(character) or _WIDE.get(character)
    if known:
        return known
    if unicodedata.combining(character):
        return 0.0
    if character.isascii():
        return CAPITAL if character.isupper() else USUAL
    return SPELT if text(character) == spelt(character) else WIDE
