"""Steps of a calculation: each figure of a worksheet as terms of its own and multiples of smaller figures.

    block = 1 × attention + 2 × norm + 1 × ffn          attention = heads + out, or q + k + v + out

What a student gets who goes wrong in one step follows by evaluating the steps above with that wrong value, and so does
what follows correctly from an earlier wrong answer. A working is a tree, which `replaced` and `without_one` change as
a slip does. Two steps with the same terms are the same figure (`key`), so it is asked once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from archcalc.core.count import Count, total
from archcalc.core.expression import NUMBERS, Expression, Infix, Leaf, Product, Sum, written
from archcalc.core.ir import Module, walk
from archcalc.core.roles import CROSS, Role

Key = Hashable
MOST_WAYS = 16  # values that are tried for one figure; a student takes one way


class LayerKind(StrEnum):
    """What a figure is of, where mistakes depend on it."""

    CROSS = "cross-attention"
    NORM = "norm"
    OTHER = ""


def kind_of(module: Module) -> LayerKind:
    """By the roles of all weights in it."""
    roles = {param.weight_role for inner, _ in walk(module) for param in inner.params.values()} - {Role.BIAS}
    if roles and roles <= CROSS:
        return LayerKind.CROSS
    return LayerKind.NORM if roles == {Role.NORM} else LayerKind.OTHER


@dataclass(frozen=True)
class Term:
    """A product in a step: the elements of a tensor with so many axes, or the cost of an operation (no axes)."""

    count: Count
    axes: int = 0
    title: str = ""
    active: Count | None = None  # what of it a token meets, where that is not all: the chosen experts'
    dims: tuple[str, ...] = ()  # names of a tensor's dims, axis by axis
    places: int = 1  # of an operation's output: positions of a sequence, pixels of a map

    @property
    def key(self) -> Key:
        return self.axes, unnamed(self.count.expression)


@dataclass(frozen=True)
class Way:
    """One way to get a figure: a sum of terms and of multiples of other figures."""

    terms: tuple[Term, ...] = ()
    children: tuple[tuple[Count, Step], ...] = ()

    @cached_property
    def key(self) -> Key:
        return tuple(term.key for term in self.terms), tuple((int(times), step.key) for times, step in self.children)


@dataclass(frozen=True, eq=False)
class Step:
    """A figure: its name and title, its working as it is printed, and the ways to get it, the usual one first."""

    name: str
    title: str
    count: Count
    ways: tuple[Way, ...]
    copies: int = 1  # of it in what holds it
    is_share: bool = False  # no layer, but a share of one: one head of a projection
    calls: int = 1  # how often its weights are used: a recurrent cell's once in every step
    kind: LayerKind = LayerKind.OTHER

    @cached_property
    def key(self) -> Key:
        return self.ways[0].key

    @cached_property
    def below(self) -> dict[Key, Step]:
        """Itself and every figure that it is made of."""
        found: dict[Key, Step] = {self.key: self}
        for way in self.ways:
            for _, child in way.children:
                found |= {key: step for key, step in child.below.items() if key not in found}
        return found

    @cached_property
    def wraps(self) -> Step | None:
        """The one figure that it is, where it has no more than that."""
        way = self.ways[0]
        if not way.terms and len(way.children) == 1 and way.children[0][0] == 1:
            return way.children[0][1]
        return None

    @cached_property
    def every_way(self) -> tuple[Way, ...]:
        """Its own ways, and those of the figure that it wraps."""
        return (*self.ways, *self.wraps.every_way) if self.wraps else self.ways

    def value(self, known: Mapping[Key, int] | None = None) -> int:
        """Its value, where some figures below it are taken to be `known`, rightly or not."""
        return evaluated(self, dict(known or {}))


def evaluated(step: Step, known: dict[Key, int]) -> int:
    if step.key not in known:
        way = step.ways[0]
        own = sum(int(term.count) for term in way.terms)
        known[step.key] = own + sum(int(times) * evaluated(child, known) for times, child in way.children)
    return known[step.key]


def derived(step: Step, answers: Mapping[Key, int]) -> set[int]:
    """The values that follow for a step from answers to others, by every way to get it."""
    found: set[int] = set()
    for way in step.ways:
        sums = {sum(int(term.count) for term in way.terms)}
        for times, child in way.children:
            given = {answers[child.key]} if child.key in answers else derived(child, answers)
            sums = set(sorted(above + int(times) * value for above in sums for value in given)[:MOST_WAYS])
        found |= sums
    return found


def subtotals(terms: Iterable[Term], children: Sequence[tuple[Count, Step]]) -> Count:
    """The working of a sum of terms and of figures that were worked out before."""
    own = [term.count for term in terms]
    if not own and len(children) == 1 and children[0][0] == 1:
        return children[0][1].count
    return total([*own, *(times * Count.named(step.title, step.value(), subtotal=True) for times, step in children)])


def in_order(step: Step, seen: set[str] | None = None) -> Iterator[Step]:
    """Every figure once, the smaller ones before those that are made of them; `seen` are those that came before."""
    seen = set() if seen is None else seen
    if step.name in seen:
        return
    seen.add(step.name)
    for way in reversed(step.ways):
        for _, child in way.children:
            yield from in_order(child, seen)
    yield step


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
