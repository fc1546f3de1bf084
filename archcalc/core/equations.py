"""Equations as data: what a layer computes, written in symbols that have shapes.

    Equation(gate, Apply("σ", Plus((Product(w, Joined((a, x))), b))), "update_gate")     Γu = σ(Wu·[a⟨t−1⟩; x⟨t⟩] + bu)

A layer declares them beside the ops that it records. Renderers write them down, `record` is for programs, and tests
compute with them. Shapes are those of one example: a matrix is rows × columns, as it stands in front of its vector.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Joined:
    """Vectors one below the other: `[a⟨t−1⟩; x⟨t⟩]`."""

    parts: tuple[Term, ...]

    @property
    def text(self) -> str:
        return f"[{'; '.join(part.text for part in self.parts)}]"


@dataclass(frozen=True)
class Apply:
    """A function of every element, or softmax: `σ(…)`."""

    function: str
    argument: Term

    @property
    def text(self) -> str:
        return f"{self.function}({self.argument.text})"


@dataclass(frozen=True)
class Product:
    """A matrix times a vector: `Wu·x⟨t⟩`."""

    matrix: Symbol
    vector: Term

    @property
    def text(self) -> str:
        return f"{self.matrix.text}·{_factor(self.vector)}"


@dataclass(frozen=True)
class Elementwise:
    """Element by element: `Γf∗c⟨t−1⟩`."""

    left: Term
    right: Term

    @property
    def text(self) -> str:
        return f"{_factor(self.left)}∗{_factor(self.right)}"


@dataclass(frozen=True)
class Plus:
    terms: tuple[Term, ...]

    @property
    def text(self) -> str:
        return " + ".join(term.text for term in self.terms)


@dataclass(frozen=True)
class OneMinus:
    """The rest of a gate: `(1−Γu)`."""

    gate: Term

    @property
    def text(self) -> str:
        return f"(1−{self.gate.text})"


Term = Symbol | Joined | Apply | Product | Elementwise | Plus | OneMinus


def _factor(term: Term) -> str:
    """In brackets where the text of a sum or a product would be read otherwise."""
    return f"({term.text})" if isinstance(term, Plus | Elementwise | Product) else term.text


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


def symbols_in(term: Term) -> Iterator[Symbol]:
    if isinstance(term, Symbol):
        yield term
        return
    for part in _parts(term):
        yield from symbols_in(part)


def _parts(term: Term) -> tuple[Term, ...]:
    """What a term is made of."""
    match term:
        case Joined(parts) | Plus(parts):
            return parts
        case Product(left, right) | Elementwise(left, right):
            return left, right
        case Apply(_, inner) | OneMinus(inner):
            return (inner,)
        case _:
            return ()


def as_data(term: Term) -> Any:
    """A symbol as its text, anything else as `{"sum": […]}` and the like."""
    inner = [as_data(part) for part in _parts(term)]
    match term:
        case Symbol():
            return term.text
        case Apply(function, _):
            return {"apply": function, "to": inner[0]}
        case OneMinus(_):
            return {"one_minus": inner[0]}
        case _:
            return {_NAMES[type(term)]: inner}


_NAMES = {Joined: "concatenation", Product: "product", Elementwise: "elementwise", Plus: "sum"}
