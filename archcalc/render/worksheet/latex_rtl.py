r"""Text from right to left for xelatex with xepersian: letters as they are, formulas and code by \lr.

>>> said("پهنای ⟦d_model⟧")
'پهنای \\lr{d\\_model}'
"""

from __future__ import annotations

import re

from archcalc.exercises.language import Language
from archcalc.exercises.phrases import CLOSE, OPEN
from archcalc.render.latex.text import sentence

_PIECE = re.compile(f"{OPEN}([^{CLOSE}]*){CLOSE}")
_SPECIAL = {character: f"\\{character}" for character in "&%$#_{}"}
_SPECIAL |= {"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"}


def said(words: str) -> str:
    """A sentence; its pieces from left to right as pdflatex would have them."""
    parts = _PIECE.split(words)
    return "".join(f"\\lr{{{sentence(part)}}}" if at % 2 else _escaped(part) for at, part in enumerate(parts))


def packages_of(language: Language) -> list[str]:
    """xepersian comes last; of the fonts that a language names, the first that is installed."""
    fonts = language.data["latex"]
    return [
        "\\vfuzz=4pt  % letters with marks above and below are taller than TeX's lines",
        "\\usepackage{xepersian}  % needs xelatex",
        _first(fonts["font"], "\\settextfont"),
        _first(fonts["latin"], "\\setlatintextfont"),
    ]


def _first(fonts: list[str], command: str) -> str:
    *others, last = fonts
    choices = "".join(f"\\IfFontExistsTF{{{font}}}{{{command}{{{font}}}}}{{" for font in others)
    return f"{choices}{command}{{{last}}}{'}' * len(others)}"


def _escaped(words: str) -> str:
    return "".join(_SPECIAL.get(character, character) for character in words)
