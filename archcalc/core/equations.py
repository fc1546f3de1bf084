"""Equations as data: what a layer computes, written in symbols that have shapes.

    Equation(gate, apply((plus((product((w, joined((a, x)))), b)),), "σ"))        Γu = σ(Wu·[a⟨t−1⟩; x⟨t⟩] + bu)

A layer declares them beside the ops that it records. Renderers write them down, `record` is for programs, and tests
compute with them. Shapes are those of one example: a matrix is rows × columns, as it stands in front of its vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

Shape = tuple[int, ...]
NOW, BEFORE = "t", "t−1"


@dataclass(frozen=True)
class Symbol:
    """`Γu`, `Wu`, `c̃⟨t⟩`: a letter, its index, and the step that it belongs to, if it changes from step to step."""

    letter: str
    index: str = ""
    time: str = ""
    shape: Shape = ()

    @property
    def text(self) -> str:
        return f"{self.letter}{self.index}" + (f"⟨{self.time}⟩" if self.time else "")


_WRITTEN = {  # what stands before, between and behind the parts
    "concatenation": ("[", "; ", "]"),
    "product": ("", "·", ""),
    "elementwise": ("", "∗", ""),
    "sum": ("", " + ", ""),
    "one_minus": ("(1−", "", ")"),
    "apply": ("(", "", ")"),
}
_FACTORS = ("product", "elementwise")


@dataclass(frozen=True)
class Combined:
    """A term that is made of others; a `function` is applied to one."""

    how: str
    parts: tuple[Term, ...]
    function: str = ""

    @property
    def text(self) -> str:
        """A factor is in brackets where the text of a sum or a product would be read otherwise."""
        before, between, behind = _WRITTEN[self.how]
        bracketed = ("sum", *_FACTORS) if self.how in _FACTORS else ()
        inner = [
            f"({part.text})" if isinstance(part, Combined) and part.how in bracketed else part.text
            for part in self.parts
        ]
        return f"{self.function}{before}{between.join(inner)}{behind}"


Term = Symbol | Combined
joined = partial(Combined, "concatenation")  # vectors one below the other: `[a⟨t−1⟩; x⟨t⟩]`
product = partial(Combined, "product")  # a matrix and a vector: `Wu·x⟨t⟩`
elementwise = partial(Combined, "elementwise")  # `Γf∗c⟨t−1⟩`
plus = partial(Combined, "sum")
one_minus = partial(Combined, "one_minus")  # the rest of a gate: `(1−Γu)`
apply = partial(Combined, "apply")  # a function of every element, or softmax: `σ(…)`


@dataclass(frozen=True)
class Equation:
    """`signal` is the name under which `archcalc shapes` shows what is computed."""

    left: Symbol
    right: Term
    signal: str = ""

    @property
    def text(self) -> str:
        return f"{self.left.text} = {self.right.text}"

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """Every symbol in it once, from left to right."""
        return tuple(dict.fromkeys((self.left, *symbols_in(self.right))))

    def record(self) -> dict[str, Any]:
        """As programs read it: in one line, and as a tree."""
        shapes = {symbol.text: symbol.shape for symbol in self.symbols}
        return {"text": self.text, "left": self.left.text, "right": as_data(self.right), "shapes": shapes}


@dataclass(frozen=True)
class Elsewhere:
    """How books and libraries write the same: a table of words, and the sentence that explains it."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    about: str

    def record(self) -> dict[str, Any]:
        return {"heads": self.heads, "rows": self.rows, "about": self.about}


@dataclass(frozen=True)
class System:
    """The equations of one layer, in the order of computation."""

    equations: tuple[Equation, ...] = ()
    elsewhere: Elsewhere | None = None

    def of(self, signal: str) -> Equation:
        return next(equation for equation in self.equations if equation.signal == signal)


def symbols_in(term: Term) -> list[Symbol]:
    return [term] if isinstance(term, Symbol) else [symbol for part in term.parts for symbol in symbols_in(part)]


def as_data(term: Term) -> Any:
    """A symbol as its text, anything else as `{"sum": […]}` and the like."""
    if isinstance(term, Symbol):
        return term.text
    inner = [as_data(part) for part in term.parts]
    if term.function:
        return {term.how: term.function, "to": inner[0]}
    return {term.how: inner[0] if term.how == "one_minus" else inner}
