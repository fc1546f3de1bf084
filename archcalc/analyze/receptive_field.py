"""Receptive fields: from the first to the last place of the input that one place of a map depends on, along each side.

Maps are followed from op to op (`archcalc.analyze.field_of_view`). Where branches join, a place sees what any of them
shows it. Zeros of the padding count as places; statistics of norms are left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from functools import reduce
from itertools import pairwise
from math import lcm

from archcalc.analyze.field_of_view import ITSELF, Extent, Field
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.ir import Module, Op, Tensor, walk
from archcalc.core.windows import Along, Enlarged, Spread

MOST_PLACES = 1024  # of a map that see unlike extents
MOST_STEPS = 50_000


class Unstated(Enum):
    """Why a map has no figure; the first reason counts."""

    EVERY = "it depends on every place of the input, as behind a linear layer, or a layer changes the order of places"
    TOO_MANY = "it differs in too many ways from place to place"


Fields = tuple[Field, ...] | Unstated  # along each side; none for what does not depend on the input
Sizes = tuple[Extent, ...]  # the fewest and the most places along each side
State = tuple[Fields, ...]


NOT_STATED = Assumption(
    Topic.TABLE,
    "a receptive field is not stated where branches of unlike strides join, or where it differs from place to place in "
    f"more than {MOST_PLACES:,} ways or takes more than {MOST_STEPS:,} steps to follow",
)


class TooLongError(Exception):
    """More steps than a table is worth."""


@dataclass(frozen=True)
class ReceptiveFields:
    """The sizes by map, none for what is no map; those of `unstated` are not known."""

    sizes: dict[Tensor, Sizes] = field(default_factory=dict)
    unstated: frozenset[Tensor] = frozenset()

    def of(self, tensor: Tensor) -> Sizes:
        """A view has the field of what it is a view of; nothing where there is none."""
        return self.sizes.get(tensor.within(self.sizes), ())

    def is_unstated(self, tensor: Tensor) -> bool:
        return tensor.within(self.sizes) in self.unstated


def receptive_fields(root: Module) -> ReceptiveFields:
    """Of every map behind a convolution or a pooling layer, in the last of equal layers that follow each other."""
    ops = [op for module, _ in walk(root) for op in module.ops]
    if not any(op.windows for op in ops):
        return ReceptiveFields()
    walked = Walk()
    try:
        walked.follow(root)
    except TooLongError:
        walked.known = {op.output: Unstated.TOO_MANY for op in ops if op.inputs}
    return walked.found()


class Walk:
    """Through the ops in their order, with the fields of every tensor so far."""

    def __init__(self) -> None:
        self.known: dict[Tensor, Fields] = {}
        self.start: tuple[Field, ...] = ()  # what the input itself sees
        self.whole: tuple[int, ...] = ()  # its sides
        self.steps = 0

    def found(self) -> ReceptiveFields:
        sizes: dict[Tensor, Sizes] = dict.fromkeys(self.known, ())
        for tensor, fields in self.known.items():
            sides = tensor.shape[2:]
            if not isinstance(fields, Unstated) and fields is not self.start and len(fields) == len(sides):
                sizes[tensor] = tuple(field.sizes(places) for field, places in zip(fields, sides, strict=True))
        unstated = {tensor for tensor, fields in self.known.items() if fields is Unstated.TOO_MANY}
        return ReceptiveFields(sizes, frozenset(each for each in unstated if len(each.axes) > 2))

    def follow(self, module: Module) -> None:
        """As often as the module is repeated: what comes out of one is what goes into the next.

        Once every place sees more by the same number from one to the next, it goes on so. Others may read what
        entered the first, so that its field is put back.
        """
        into, out = ([pair[end] for pair in module.carries] for end in (0, 1))
        entered = tuple(map(self.of, into))
        states, left = [entered], int(module.repeat) if into else 1
        while left:
            for item in module.body:
                if isinstance(item, Module):
                    self.follow(item)
                else:
                    self._spend(1)
                    self.known[item.output] = self._behind(item)
            left -= 1
            states = [*states[-2:], tuple(map(self.of, out))]
            growth = _steady(states) if left > 1 else None
            if growth is not None:
                states[-1] = tuple(_grown(fields, growth, left - 1) for fields in states[-1])
                left = 1
            self.known.update(zip(into, states[-1], strict=True))
        self.known.update(zip(into, entered, strict=True))

    def _spend(self, steps: int) -> None:
        self.steps += steps
        if self.steps > MOST_STEPS:
            raise TooLongError

    def of(self, tensor: Tensor) -> Fields:
        return self.known.get(tensor.within(self.known), ())

    def _behind(self, op: Op) -> Fields:
        if op.traits.enters:
            self.whole = op.output.shape[2:]
            self.start = tuple(ITSELF for _ in self.whole)
            return self.start
        read = {tensor: self.of(tensor) for tensor in op.inputs}
        reasons = [reason for reason in Unstated if reason in read.values()]
        if reasons:
            return reasons[0]
        maps = {tensor: fields for tensor, fields in read.items() if fields and not isinstance(fields, Unstated)}
        if op.windows and maps:
            return _stated(map(self._through, next(iter(maps.values())), op.windows))
        if not maps:
            return ()
        return self._beside(op, maps)

    def _through(self, field: Field, window: Along) -> Field | None:
        """A single place that is spread over a map is all that any place of that sees."""
        is_spread = isinstance(window, Spread | Enlarged) and window.size == 1
        field = field.held(range(1)) if is_spread else field
        effort = field.effort(window)
        if effort > MOST_PLACES:
            return None
        self._spend(effort)
        return field.through(window)

    def _beside(self, op: Op, maps: dict[Tensor, tuple[Field, ...]]) -> Fields:
        """Places stay where they are if the output has the sides of what is read."""
        behind = op.output.dims[-len(self.whole) :]
        has_sides = len(op.output.dims) > len(behind) + 1 and any(set(behind) <= set(each.dims) for each in maps)
        seen = []
        for tensor, fields in maps.items():
            sides = tensor.dims[-len(fields) :]
            if has_sides and tensor.shape[2:] == (1,) * len(fields) != op.output.shape[2:]:
                seen.append(tuple(field.held(range(1)) for field in fields))  # a single place, read at all of a map
            elif not has_sides and set(sides) <= set(op.over):  # what is summed over all places shows them all
                along_sides = zip(fields, sides, strict=True)
                seen.append(tuple(field.held(range(int(side.size))) for field, side in along_sides))
            else:
                seen.append(fields)
        if not has_sides and any(field.shift for fields in seen for field in fields):
            return Unstated.EVERY
        if len(seen) == 1:
            return seen[0]
        along = zip(zip(*seen, strict=True), self.whole, behind, strict=True)
        return _stated(self._joined(fields, whole, int(side.size)) for fields, whole, side in along)

    def _joined(self, fields: tuple[Field, ...], whole: int, places: int) -> Field | None:
        """What a place sees in any of them. Where one shows every place the whole input, the others add nothing."""
        fixed = [each for each in fields if not each.shift]
        if fixed and any(each.shift for each in fields):
            every = reduce(Field.joined, fixed)
            moving = [each.held(range(places)).at(0) for each in fields if each.shift]
            if every.covers((0, whole - 1)) or all(map(every.covers, moving)):
                return every
            return None
        period = lcm(*(each.period for each in fields))
        if period > MOST_PLACES or not all(map(fields[0].moves_like, fields)):
            return None
        self._spend(period * len(fields))
        return reduce(Field.joined, fields)


def _stated(fields: Iterable[Field | None]) -> Fields:
    every = tuple(fields)
    known = tuple(each for each in every if each is not None)
    return known if len(known) == len(every) else Unstated.TOO_MANY


def _steady(states: list[State]) -> tuple[Extent, ...] | None:
    """By how much fields grow at every turn, along each side, if they did so twice: they never shrink again."""
    if len(states) < 3:
        return None
    pairs = [pair for turn in pairwise(states) for pair in zip(*turn, strict=True)]
    growths = {_growth(*pair) for pair in pairs}
    growth = growths.pop() if len(growths) == 1 else None
    return growth if growth is not None and all(min(each) >= 0 for each in growth) else None


def _growth(one: Fields, two: Fields) -> tuple[Extent, ...] | None:
    if isinstance(one, Unstated) or isinstance(two, Unstated):
        return () if one is two else None
    found = [before.growth(after) for before, after in zip(one, two, strict=True)]
    return None if None in found else tuple(each for each in found if each)


def _grown(fields: Fields, growth: tuple[Extent, ...], turns: int) -> Fields:
    if isinstance(fields, Unstated):
        return fields
    return tuple(
        field.grown(before * turns, after * turns) for field, (before, after) in zip(fields, growth, strict=True)
    )
