"""Steps of a calculation: each figure of a worksheet as terms of its own and multiples of smaller figures.

    block = 1 × attention + 2 × norm + 1 × ffn          attention = heads + out, or q + k + v + out

What a student gets who goes wrong in one step follows by evaluating the steps above with that wrong value, and so does
what follows correctly from an earlier wrong answer. Two steps with the same terms are the same figure (`key`), so it is
asked once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from archcalc.core.count import Count, total
from archcalc.core.ir import Module, walk
from archcalc.core.roles import CROSS, Role
from archcalc.exercises.expressions import unnamed

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
