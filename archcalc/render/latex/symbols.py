r"""Names of dims as symbols: `d_model` as $d_{\mathrm{model}}$, `heads` as $h$, and what they stand for.

A name is a letter for what it measures (a width d, a number of heads h, a length N, a rank r, a side H or W; n for any
other number) and words for whose it is, or its number. The few symbols that every textbook has stand in a table. Names
are composed as `archcalc.layers.glossary` says: `heads·head_dim` is a product, `input+hidden` a sum.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from archcalc.layers.glossary import meaning
from archcalc.render.latex.formula import BRACKET, Piece
from archcalc.render.latex.text import SCRIPT, text, width

OF_TEXTBOOKS = {
    "batch": ("B", ""),
    "seq": ("N", ""),
    "vocab": ("V", ""),
    "heads": ("h", ""),
    "ffn": ("d", "ff"),
    "channels": ("C", ""),
    "height": ("H", ""),
    "width": ("W", ""),
    "features": ("D", ""),
    "kernel": ("K", ""),
    "kernel_height": ("K", "h"),
    "kernel_width": ("K", "w"),
    "embedding_width": ("d", "embedding"),
    "joined_width": ("d", "joined"),
    "norm_width": ("d", "norm"),
}
ENDINGS = {"_seq": "N", "_heads": "h", "_dim": "d", "_rank": "r", "_height": "H", "_width": "W"}
WIDTHS = frozenset(("input", "hidden", "embedding", "inner", "state", "latent", "pooled", "query", "key", "context"))
_NUMBERED = re.compile(r"(.+)_(\d+)")
SPACE = 0.17  # em, a thin space


class Symbols:
    """A symbol for each name, and no symbol for two of them."""

    def __init__(self, names: Iterable[str]) -> None:
        self._of: dict[str, tuple[str, str]] = {}
        for name in sorted({part for composed in names for part in parts(composed)}):
            taken = set(self._of.values())
            self._of[name] = usual if (usual := _symbol(name)) not in taken else ("n", _words(name))

    def symbol(self, name: str) -> Piece:
        """Of a name, composed ones included."""
        terms = []
        for term in name.split("+"):
            factors = [
                Piece(each, width(each)) if each.isdecimal() else subscripted(*self._of[each])
                for each in term.split("·")
            ]
            wide = sum(factor.width for factor in factors) + SPACE * (len(factors) - 1)
            terms.append(Piece("\\,".join(factor.latex for factor in factors), wide))
        if len(terms) == 1:
            return terms[0]
        inner = " + ".join(term.latex for term in terms)
        return Piece(f"({inner})", sum(term.width + 1 for term in terms) + 2 * BRACKET)


def parts(name: str) -> list[str]:
    """The names that a composed one is made of."""
    return [factor for term in name.split("+") for factor in term.split("·") if not factor.isdecimal()]


def subscripted(letter: str, words: str) -> Piece:
    if not words:
        return Piece(letter, width(letter) + 0.2)
    upright = f"\\mathrm{{{words}}}" if words.isascii() and words.isalnum() else f"\\text{{{text(words)}}}"
    if words.isdecimal():
        upright = words
    return Piece(f"{letter}_{{{upright}}}", width(letter) + 0.1 + SCRIPT * width(words))


def _symbol(name: str) -> tuple[str, str]:
    if name in OF_TEXTBOOKS:
        return OF_TEXTBOOKS[name]
    if numbered := _NUMBERED.fullmatch(name):
        letter, words = _symbol(numbered[1])
        return letter, f"{words} {numbered[2]}".strip()
    for ending, letter in ENDINGS.items():
        if name.endswith(ending) and name != ending:
            return letter, _words(name.removesuffix(ending))
    if name.startswith("d_"):
        return "d", _words(name.removeprefix("d_"))
    return ("d" if name in WIDTHS else "n"), _words(name)


def _words(name: str) -> str:
    return name.replace("_", " ")


def explained(name: str) -> str:
    """What it means; a name that is no dim's is words already."""
    return meaning(name) or _words(name)
