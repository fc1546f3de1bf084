r"""Workings as formulas: the notation that writes a count's expression, and lines of equations that fit a page.

A formula is a row of pieces, such as `h`, `\times 3`, `\times (d_{\mathrm{model}}`, `+ 1)`: a line may be broken before
any of them, best before the next term of a sum outside all brackets.

Names of dims are symbols: `d_model` is $d_{\mathrm{model}}$, `heads` $h$. A name is a letter for what it measures (a
width d, a number of heads h, a length N, a rank r, a side H or W; n for any other number) and words for whose it is, or
its number. The few symbols that every textbook has stand in a table. Names are composed as `archcalc.layers.glossary`
says: `heads·head_dim` is a product, `input+hidden` a sum.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from archcalc.core.expression import Infix, Leaf, Notation, bracketed, written
from archcalc.layers.glossary import meaning
from archcalc.render.latex.text import SCRIPT, text, width

OPERATOR = 1.25  # em that a sign of operation takes, with the space around it
BRACKET = 0.4
SUM, BRACKETED, PRODUCT = 0, 1, 100  # how bad a break before a piece is; every pair of brackets around it adds to it
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


class Piece(NamedTuple):
    latex: str
    width: float
    rank: int = PRODUCT


INDENT = Piece("\\qquad", 2.0)  # of a line that goes on
Formula = tuple[Piece, ...]


def number(value: int, *, separated: bool = True) -> Piece:
    """`30{,}721{,}024`, in which the comma is no punctuation."""
    shown = f"{value:,}" if separated else str(value)
    return Piece(shown.replace(",", "{,}"), width(shown))


class Maths(Notation[Formula]):
    """Sizes and subtotals as numbers, or by `symbol` where that has one for them."""

    def __init__(self, symbol: Callable[[Leaf], Piece | None]) -> None:
        self.symbol = symbol

    def leaf(self, leaf: Leaf) -> Formula:
        return (self.symbol(leaf) or number(leaf.value, separated=leaf.subtotal),)

    def times(self, factors: Sequence[Formula]) -> Formula:
        return joined(factors, "\\times", PRODUCT)

    def plus(self, terms: Sequence[Formula]) -> Formula:
        return joined(terms, "+", SUM)

    def brackets(self, inner: Formula) -> Formula:
        deeper = [piece._replace(rank=piece.rank + BRACKETED) for piece in inner]
        deeper[0] = deeper[0]._replace(latex=f"({deeper[0].latex}", width=deeper[0].width + BRACKET)
        deeper[-1] = deeper[-1]._replace(latex=f"{deeper[-1].latex})", width=deeper[-1].width + BRACKET)
        return tuple(deeper)

    def infix(self, operation: Infix) -> Formula:
        if operation.symbol == "//":
            above, below = written(operation.left, self), written(operation.right, self)
            fraction = f"\\left\\lfloor \\frac{{{latex(above)}}}{{{latex(below)}}} \\right\\rfloor"
            return (Piece(fraction, max(_width(above), _width(below)) + 2 * BRACKET),)
        left, right = bracketed(operation.left, self), bracketed(operation.right, self)
        if operation.symbol == "**":
            power = f"{{{latex(left)}}}^{{{latex(right)}}}"
            return (Piece(power, _width(left) + _width(right)),)
        return joined([left, right], _SIGNS[operation.symbol], SUM)


_SIGNS = {"−": "-", "/": "/"}
AS_NUMBERS = Maths(lambda leaf: None)


def joined(formulas: Sequence[Formula], sign: str, rank: int) -> Formula:
    """One after the other, with the sign in front of all but the first."""
    first, *others = formulas
    return (*first, *(piece for formula in others for piece in signed(formula, sign, rank)))


def signed(formula: Formula, sign: str, rank: int) -> Formula:
    head, *rest = formula
    return (Piece(f"{sign} {head.latex}", head.width + OPERATOR, rank), *rest)


def latex(pieces: Iterable[Piece]) -> str:
    return " ".join(piece.latex for piece in pieces)


def _width(pieces: Iterable[Piece]) -> float:
    return sum(piece.width for piece in pieces)


def equation_lines(steps: Sequence[Formula], room: float) -> list[str]:
    """`= formula = numbers = value`: a step that does not fit behind the one before it gets a line of its own."""
    lines: list[Formula] = []
    for step in (signed(step, "=", SUM) for step in steps):
        if lines and _width(lines[-1]) + _width(step) <= room:
            lines[-1] = (*lines[-1], *step)
        else:
            lines += _broken(step, room)
    return [latex(line) for line in lines]


def _broken(formula: Formula, room: float) -> list[Formula]:
    """Lines of a formula, each as long as it can be up to the best place for a break; all but the first indented."""
    lines, rest = [], formula
    while _width(rest) > room and len(rest) > _least(rest):
        # The last of the best places within the room, with a single piece on a line only if two are too long.
        fitting = [i for i in range(2, len(rest)) if _width(rest[:i]) <= room] or [_least(rest)]
        place = min(fitting, key=lambda i: (rest[i].rank, -i))
        lines.append(rest[:place])
        rest = (INDENT, *rest[place:])
    return [*lines, rest]


def _least(formula: Formula) -> int:
    """One piece, or one behind the indentation."""
    if formula[0] is not INDENT:
        return 1
    return 2


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
