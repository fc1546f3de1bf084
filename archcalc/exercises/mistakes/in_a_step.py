"""Mistakes in one step of a calculation: something in it is forgotten, counted once or twice, or of another size.

Each is a function of a step that gives by how much it goes wrong, with a sentence; `value_of` gives the value of what
the step is made of, which may be an earlier wrong answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from archcalc.core.expression import Leaf, evaluated, leaves
from archcalc.exercises.labels import listed
from archcalc.exercises.steps import Key, LayerKind, Slip, Step, Term, Way, named, replaced, without_one

ValueOf = Callable[[Step], int]
Slips = Callable[[Way, ValueOf], Iterator[Slip]]


@dataclass(frozen=True)
class Mistake:
    name: str
    slips: Slips
    everywhere: bool = False  # people who make it once make it in every layer
    beside_others: bool = False  # common enough to be looked for together with another one


def total(way: Way, value_of: ValueOf) -> int:
    return sum(int(term.count) for term in way.terms) + sum(int(n) * value_of(step) for n, step in way.children)


def _biases(way: Way) -> list[Term]:
    """Vectors beside a matrix: W·x + b. A norm's vectors stand beside none."""
    has_matrix = any(term.axes > 1 for term in way.terms)
    return [term for term in way.terms if term.axes == 1 and has_matrix]


def _forgotten_bias(way: Way, value_of: ValueOf) -> Iterator[Slip]:
    missing = sum(int(term.count) for term in _biases(way))
    if missing:
        yield Slip(-missing, f"the bias is missing: + {missing:,}")


def _one_bias_of_several(way: Way, value_of: ValueOf) -> Iterator[Slip]:
    biases = _biases(way)
    if len(biases) > 1:
        yield Slip(-int(biases[0].count), f"one bias vector is counted where there are {len(biases)}")


def _two_biases_for_one(way: Way, value_of: ValueOf) -> Iterator[Slip]:
    biases = _biases(way)
    if len(biases) == 1:
        yield Slip(int(biases[0].count), "two bias vectors are counted where there is one")


def _bias_per_input(way: Way, value_of: ValueOf) -> Iterator[Slip]:
    """A bias for each filter on each input channel, or one for each input instead of each output."""
    for bias in _biases(way):
        inputs, own = _input(next(term for term in way.terms if term.axes > 1), bias), int(bias.count)
        if inputs:
            yield Slip(own * (inputs.value - 1), f"a bias for each of {named(inputs)}: an output has one")
            yield Slip(inputs.value - own, f"as many biases as {named(inputs)}: every output has one")


def _input(matrix: Term, bias: Term) -> Leaf | None:
    """The width of what a layer reads: a matrix's first axis that is not the output's. Behind it are a filter's own."""
    by_name = {leaf.name: leaf for leaf in leaves(matrix.count.expression)}
    return next((by_name[dim] for dim in matrix.dims if dim not in bias.dims and dim in by_name), None)


def _forgotten_cross(way: Way, value_of: ValueOf) -> Iterator[Slip]:
    """A decoder block counted as an encoder's, with the norm after the forgotten attention or without."""
    for times, step in way.children:
        if step.kind is LayerKind.CROSS:
            missing = int(times) * value_of(step)
            norms = {value_of(one) for _, one in way.children if one.kind is LayerKind.NORM}
            yield Slip(-missing, "the cross-attention over the encoder's output is missing")
            for norm in sorted(norms):
                yield Slip(-missing - norm, "the cross-attention and its norm are missing")


def _weights_times_steps(way: Way, value_of: ValueOf) -> Iterator[Slip]:
    for times, step in way.children:
        if step.calls > 1:
            sentence = f"{step.title} is used {step.calls:,} times with the same weights, which count once"
            yield Slip((step.calls - 1) * int(times) * value_of(step), sentence)


def _forgotten_places(way: Way, value_of: ValueOf) -> Iterator[Slip]:
    """The products of one pixel or one token."""
    places = max((term.places for term in way.terms), default=1)
    if places > 1:
        missing = sum(int(term.count) - int(term.count) // term.places for term in way.terms)
        yield Slip(-missing, f"the FLOPs of one place: there are {places:,} (pixels of the map, or positions)")


def _forgotten_repeats(way: Way, value_of: ValueOf) -> Iterator[Slip]:
    for times, step in way.children:
        if times > 1:
            missing = (int(times) - 1) * value_of(step)
            yield Slip(-missing, f"{step.title} is counted once, there are {int(times):,}")


def _counted_too_rarely(way: Way, value_of: ValueOf) -> Iterator[Slip]:
    """Equal parts: q, k and v; two embeddings; two or three norms of a block."""
    for equal in _equal(way):
        titles = listed([step.title for step in equal])
        for counted in range(1, len(equal)):
            words = "once" if counted == 1 else f"{counted} times"
            missing = (len(equal) - counted) * value_of(equal[0])
            yield Slip(-missing, f"{titles}: counted {words}, there are {len(equal)}")


def _equal(way: Way) -> list[list[Step]]:
    groups: dict[Key, list[Step]] = {}
    for times, step in way.children:
        if times == 1 and step.kind is not LayerKind.CROSS:
            groups.setdefault(step.key, []).append(step)
    return [found for found in groups.values() if len(found) > 1]


def _forgotten_part(way: Way, value_of: ValueOf) -> Iterator[Slip]:
    known = {step.key for group in _equal(way) for step in group}
    known |= {step.key for _, step in way.children if step.kind is LayerKind.CROSS}
    for times, step in way.children:
        if step.key not in known:
            missing = int(times) * value_of(step)
            yield Slip(-missing, f"{step.title} is missing: + {missing:,}")


def _part_counted_twice(way: Way, value_of: ValueOf) -> Iterator[Slip]:
    for times, step in way.children:
        yield Slip(int(times) * value_of(step), f"{step.title} is counted once too often")


def _forgotten_term(way: Way, value_of: ValueOf) -> Iterator[Slip]:
    for term in way.terms if len(way.terms) > 1 else ():
        title = term.title and f" ({term.title})"
        yield Slip(-int(term.count), f"the term {term.count.worked()} is missing{title}")


def _forgotten_copies(way: Way, value_of: ValueOf) -> Iterator[Slip]:
    """One head, one gate, one expert, one group instead of all."""
    copies = {leaf for term in way.terms for leaf in leaves(term.count.expression) if leaf.copies}
    for leaf in sorted(copies):
        counts = [int(term.count) for term in way.terms if leaf in leaves(term.count.expression)]
        yield Slip(sum(count // leaf.value - count for count in counts), f"the factor {named(leaf)} is missing")


def _only_the_active(way: Way, value_of: ValueOf) -> Iterator[Slip]:
    """Experts that a token visits, where all of them are asked."""
    idle = sum(int(term.count) - int(term.active) for term in way.terms if term.active is not None)
    if idle:
        yield Slip(-idle, "only the experts that a token visits are counted: all have parameters")


def _forgotten_factor(way: Way, value_of: ValueOf) -> Iterator[Slip]:
    for term in way.terms:
        for changed, what in without_one(term.count.expression):
            yield Slip(evaluated(changed) - int(term.count), f"{what} is missing")


def another_size(sizes: tuple[Leaf, ...]) -> Mistake:
    """One of the model's sizes written for another."""

    def found(way: Way, value_of: ValueOf) -> Iterator[Slip]:
        expressions = [term.count.expression for term in way.terms]
        right = sum(int(term.count) for term in way.terms)
        for leaf in dict.fromkeys(leaf for one in expressions for leaf in leaves(one) if leaf.name):
            for other in sizes:
                own = sum(evaluated(replaced(one, leaf, other)) for one in expressions)
                yield Slip(own - right, f"{named(other)} stands where {named(leaf)} belongs")

    return Mistake("another size", found)


MISTAKES = (
    Mistake("cross-attention forgotten", _forgotten_cross, beside_others=True),
    Mistake("forgotten bias", _forgotten_bias, everywhere=True, beside_others=True),
    Mistake("one bias vector instead of two", _one_bias_of_several, everywhere=True),
    Mistake("two bias vectors instead of one", _two_biases_for_one, everywhere=True),
    Mistake("bias for every input", _bias_per_input, everywhere=True),
    Mistake("FLOPs of one place", _forgotten_places, everywhere=True),
    Mistake("weights times steps", _weights_times_steps, everywhere=True),
    Mistake("forgotten repeats", _forgotten_repeats, everywhere=True, beside_others=True),
    Mistake("equal parts counted too rarely", _counted_too_rarely, beside_others=True),
    Mistake("forgotten copies", _forgotten_copies, everywhere=True),
    Mistake("forgotten part", _forgotten_part, beside_others=True),
    Mistake("only the active experts", _only_the_active, everywhere=True),
)
RARER_MISTAKES = (Mistake("forgotten term", _forgotten_term), Mistake("part counted twice", _part_counted_twice))
FORGOTTEN_FACTOR = Mistake("forgotten factor", _forgotten_factor)
