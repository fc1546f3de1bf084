"""Sizes and how they are worked out: a tree of numbers and symbols, what it comes to, and how it is written down.

    working = (seq * (seq + 1) // 2).formula
    evaluated(working)                      at the size that `seq` has
    evaluated(working, {"seq": 4096})       at another

`written` arranges a tree the way a person would: copies in front, shared factors and equal terms written once. What the
pieces look like is for a `Notation` to say: plain text here, LaTeX in `archcalc.render`.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Generic, NamedTuple, TypeVar


class Leaf(NamedTuple):
    """A number without further working: a size, or the subtotal of a module. One with a name is a symbol, which may be
    given another value; what follows from other symbols (keys are as many as queries) has these as its `source`."""

    value: int
    name: str = ""
    copies: bool = False  # counts equal copies (heads, experts): written in front of what it repeats
    subtotal: bool = False  # worked out elsewhere: written with thousands separators
    source: Expression | None = None


class Product(NamedTuple):
    factors: tuple[Expression, ...]


class Sum(NamedTuple):
    terms: tuple[Expression, ...]


class Infix(NamedTuple):
    """Any other operation of two numbers: a difference, an integer division, a power, the smaller or the larger."""

    left: Expression
    symbol: str
    right: Expression


Expression = Leaf | Product | Sum | Infix
OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "−": operator.sub,
    "//": operator.floordiv,
    "**": operator.pow,
    "min": min,
    "max": max,
}
AS_IT_IS: Mapping[str, int] = {}
T = TypeVar("T", bound=Hashable)


class Notation(ABC, Generic[T]):
    """How the pieces of a working are written: as text, or as whatever a renderer joins its formulas from."""

    @abstractmethod
    def leaf(self, leaf: Leaf) -> T: ...

    @abstractmethod
    def times(self, factors: Sequence[T]) -> T: ...

    @abstractmethod
    def plus(self, terms: Sequence[T]) -> T: ...

    @abstractmethod
    def brackets(self, inner: T) -> T: ...

    @abstractmethod
    def infix(self, operation: Infix) -> T: ...


@dataclass(frozen=True)
class Plain(Notation[str]):
    """`4 × 3 × (1024 × 192 + 192)`; with names `heads × 3 × (d_model × head_dim + head_dim)`."""

    names: bool = False

    def leaf(self, leaf: Leaf) -> str:
        if self.names and leaf.name:
            return leaf.name
        return f"{leaf.value:,}" if leaf.subtotal else str(leaf.value)

    def times(self, factors: Sequence[str]) -> str:
        return " × ".join(factors)

    def plus(self, terms: Sequence[str]) -> str:
        return " + ".join(terms)

    def brackets(self, inner: str) -> str:
        return f"({inner})"

    def infix(self, operation: Infix) -> str:
        left, right = bracketed(operation.left, self), bracketed(operation.right, self)
        if operation.symbol == "**":
            return left + right.translate(_SUPERSCRIPT) if right.isdecimal() else f"{left}^{right}"
        return f"{left} {operation.symbol} {right}"


_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
NUMBERS, NAMES = Plain(), Plain(names=True)


def evaluated(expression: Expression, sizes: Mapping[str, int] = AS_IT_IS) -> int:
    """What it comes to with these values of symbols; all others keep theirs."""
    if isinstance(expression, Leaf):
        if expression.name in sizes:
            return sizes[expression.name]
        return expression.value if expression.source is None else evaluated(expression.source, sizes)
    if isinstance(expression, Product):
        return prod(evaluated(factor, sizes) for factor in expression.factors)
    if isinstance(expression, Sum):
        return sum(evaluated(term, sizes) for term in expression.terms)
    left, right = evaluated(expression.left, sizes), evaluated(expression.right, sizes)
    return OPERATIONS[expression.symbol](left, right)


def shortened(expression: Expression) -> Expression:
    """As people write it, for numbers as they are: without factors of 1, terms of 0, and where sizes follow from."""
    if isinstance(expression, Leaf):
        return expression._replace(source=None)
    if isinstance(expression, Infix):
        return Infix(shortened(expression.left), expression.symbol, shortened(expression.right))
    if isinstance(expression, Product):
        factors = tuple(shortened(factor) for factor in expression.factors if evaluated(factor) != 1)
        return Product(factors) if len(factors) > 1 else (*factors, Leaf(1))[0]
    terms = tuple(shortened(term) for term in expression.terms if evaluated(term))
    return Sum(terms) if len(terms) > 1 else (*terms, Leaf(0))[0]


def written(expression: Expression, notation: Notation[T]) -> T:
    if isinstance(expression, Leaf):
        return notation.leaf(expression)
    if isinstance(expression, Product):
        return _product(expression, notation)
    return _sum(expression, notation) if isinstance(expression, Sum) else notation.infix(expression)


def bracketed(expression: Expression, notation: Notation[T]) -> T:
    """As an operand: all but a number is put in brackets."""
    inner = written(expression, notation)
    return inner if isinstance(expression, Leaf) else notation.brackets(inner)


def leaves(expression: Expression) -> Iterator[Leaf]:
    """The numbers that it is made of, in the order in which they were put together."""
    if isinstance(expression, Leaf):
        yield expression
    elif isinstance(expression, Infix):
        yield from (*leaves(expression.left), *leaves(expression.right))
    else:
        for inner in expression.factors if isinstance(expression, Product) else expression.terms:
            yield from leaves(inner)


def _product(expression: Product, notation: Notation[T]) -> T:
    copies = _copies(expression)
    *first, last = sorted(expression.factors, key=lambda factor: factor not in copies)
    # a sum that reads `4 × (…)` is a product already: `2 × 4 × (…)` needs no more brackets
    is_product = isinstance(last, Sum) and _shared_copies(last.terms)
    end = written(last, notation) if is_product else bracketed(last, notation)
    return notation.times([*(bracketed(factor, notation) for factor in first), end])


def _sum(expression: Sum, notation: Notation[T]) -> T:
    """A factor that all terms share is written once in front; equal terms are written once with their number."""
    shared = _shared_copies(expression.terms)
    groups = _grouped(tuple(_without(term, shared) for term in expression.terms), notation)
    if not shared:
        return notation.plus(groups)
    inner = groups[0] if len(groups) == 1 else notation.brackets(notation.plus(groups))
    return notation.times([*map(notation.leaf, shared), inner])


def _grouped(terms: tuple[Expression, ...], notation: Notation[T]) -> list[T]:
    """`q + k + v` of one size reads `heads × 3 × (…)`: the copies, how often, then what is repeated."""
    times: dict[tuple[tuple[T, ...], T, str], int] = {}
    for term in terms:
        copies = _copies(term)
        repeated = _without(term, copies)
        # sums within a sum are bracketed, so that each layer stays one group
        is_sum = isinstance(repeated, Sum) or (isinstance(repeated, Infix) and repeated.symbol == "−")
        inner = written(repeated, notation)
        body = notation.brackets(inner) if is_sum and len(terms) > 1 else inner
        # two things of one name may have two sizes
        key = (tuple(map(notation.leaf, copies)), body, written(term, NUMBERS))
        times[key] = times.get(key, 0) + 1
    often = {n: [notation.leaf(Leaf(n))] if n > 1 else [] for n in times.values()}
    return [notation.times([*front, *often[n], body]) for (front, body, _), n in times.items()]


def _copies(term: Expression) -> tuple[Leaf, ...]:
    factors = term.factors if isinstance(term, Product) else (term,)
    if isinstance(term, Sum):
        return _shared_copies(term.terms)
    return tuple(factor for factor in factors if isinstance(factor, Leaf) and factor.copies)


def _shared_copies(terms: tuple[Expression, ...]) -> tuple[Leaf, ...]:
    return tuple(leaf for leaf in _copies(terms[0]) if all(leaf in _copies(term) for term in terms))


def _without(term: Expression, copies: tuple[Leaf, ...]) -> Expression:
    if not copies:
        return term
    if isinstance(term, Sum):
        return Sum(tuple(_without(inner, copies) for inner in term.terms))
    factors = list(term.factors) if isinstance(term, Product) else [term]
    for leaf in copies:
        factors.remove(leaf)
    if not factors:
        return Leaf(1)
    return factors[0] if len(factors) == 1 else Product(tuple(factors))
