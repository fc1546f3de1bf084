"""A working as a tree: its value, and what it becomes when one thing in it goes wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from archcalc.core.expression import NUMBERS, Expression, Infix, Leaf, Product, Sum, written


def unnamed(expression: Expression) -> tuple[object, ...]:
    """The working in numbers alone, to compare it with another."""
    if isinstance(expression, Leaf):
        return (expression.value,)
    symbol = expression.symbol if isinstance(expression, Infix) else type(expression).__name__
    return (symbol, *map(unnamed, _inner(expression)))


def _inner(expression: Expression) -> tuple[Expression, ...]:
    if isinstance(expression, Product):
        return expression.factors
    if isinstance(expression, Sum):
        return expression.terms
    assert isinstance(expression, Infix)
    return expression.left, expression.right


def _with(expression: Expression, place: int, changed: Expression) -> Expression:
    """The same with another expression in one place."""
    inner = tuple(changed if number == place else one for number, one in enumerate(_inner(expression)))
    if isinstance(expression, Infix):
        return Infix(inner[0], expression.symbol, inner[1])
    return Product(inner) if isinstance(expression, Product) else Sum(inner)


class Slip(NamedTuple):
    """By how much a step is off when one thing in it goes wrong, and a sentence that says what."""

    change: int
    sentence: str


def named(leaf: Leaf) -> str:
    """`head_dim (192)`, or a bare number."""
    return f"{leaf.name} ({leaf.value:,})" if leaf.name else f"{leaf.value:,}"


def replaced(expression: Expression, leaf: Leaf, other: Leaf) -> Expression:
    """One size written for another wherever it stands."""
    if isinstance(expression, Leaf):
        return other if expression == leaf else expression
    for place, inner in enumerate(_inner(expression)):
        expression = _with(expression, place, replaced(inner, leaf, other))
    return expression


def without_one(expression: Expression) -> Iterator[tuple[Expression, str]]:
    """The working without one of its factors or terms, and what that is."""
    if isinstance(expression, Leaf):
        return
    inner = _inner(expression)
    for place, one in enumerate(inner):
        if isinstance(expression, Product | Sum):
            kind, neutral = ("factor", Leaf(1)) if isinstance(expression, Product) else ("term", Leaf(0))
            rest = (*inner[:place], *inner[place + 1 :])
            shorter = type(expression)(rest) if len(rest) > 1 else (*rest, neutral)[0]
            yield shorter, f"the {kind} {named(one) if isinstance(one, Leaf) else written(one, NUMBERS)}"
        for changed, what in without_one(one):
            yield _with(expression, place, changed), what
