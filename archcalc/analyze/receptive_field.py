"""Receptive fields: from the first to the last place of the input that one place of a map depends on, along each side.

Maps are followed from op to op. Where branches join, a place sees what any of them shows it. Zeros of the padding count
as places; statistics of norms are left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property, reduce
from itertools import pairwise
from math import gcd, lcm

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.ir import Dim, Module, Op, Tensor, walk
from archcalc.core.windows import Along, Enlarged, Spread

MOST_PLACES = 1024  # of a map that see unlike extents
MOST_STEPS = 50_000
Extent = tuple[int, int]  # the first and the last place of the input


class Unstated(Enum):
    """Why a map has no figure; the first reason counts."""

    EVERY = "it depends on every place of the input, as behind a linear layer, or a layer changes the order of places"
    TOO_MANY = "it differs in too many ways from place to place"


# Every map is taken to go on at its ends, as textbooks do. Neighbours then see alike up to a period: behind a layer
# that makes a map twice as long, places of even and of odd number may see unlike extents, and so on for every such
# layer.
@dataclass(frozen=True)
class Field:
    """Which places of the input each place of a map depends on, along one side, from the first to the last: the
    extent of each place of a period (none where it depends on no place); the next period's lies `shift` behind.

    Without a shift all places see the same.
    """

    shift: int
    seen: tuple[Extent | None, ...]

    @property
    def period(self) -> int:
        return len(self.seen)

    def at(self, place: int) -> Extent | None:
        turns, phase = divmod(place, self.period)
        return _moved(self.seen[phase], turns * self.shift, turns * self.shift)

    def held(self, places: range) -> Field:
        """Every place sees what all of these see together."""
        return Field(0, (self._over(places),))

    def through(self, window: Along) -> Field:
        """Behind a layer that moves this window over the map."""
        turns = self._turns(window)
        shift = window.step.numerator * turns // self.period * self.shift
        places = range(window.step.denominator * turns)
        return Field(shift, tuple(self._over(window.sees(place)) for place in places))

    def effort(self, window: Along) -> int:
        """How many places are looked at for that."""
        return window.step.denominator * self._turns(window) * (1 if self._is_ordered else self.period)

    def _turns(self, window: Along) -> int:
        """Periods of the window until one of the map's begins with one of them."""
        return self.period // gcd(self.period, window.step.numerator)

    def joined(self, other: Field) -> Field:
        """Where both are read, place by place; both move on at one pace."""
        places = range(lcm(self.period, other.period))
        shift = len(places) // self.period * self.shift
        return Field(shift, tuple(_hull((self.at(place), other.at(place))) for place in places))

    def moves_like(self, other: Field) -> bool:
        return self.shift * other.period == other.shift * self.period

    def covers(self, other: Extent | None) -> bool:
        """Whether every place sees all of it."""
        return all(extent == _hull((extent, other)) for extent in self.seen)

    def grown(self, before: int, after: int) -> Field:
        return Field(self.shift, tuple(_moved(extent, -before, after) for extent in self.seen))

    def growth(self, later: Field) -> Extent | None:
        """By how much every place sees more in front and behind; nothing where that differs from place to place."""
        if (self.shift, self.period) != (later.shift, later.period):
            return None
        pairs = list(zip(self.seen, later.seen, strict=True))
        if any((one is None) != (two is None) for one, two in pairs):
            return None
        found = {(one[0] - two[0], two[1] - one[1]) for one, two in pairs if one and two} or {(0, 0)}
        return found.pop() if len(found) == 1 else None

    def sizes(self, places: int) -> Extent:
        """The fewest and the most places from the first to the last, over all places of a map."""
        found = [extent[1] - extent[0] + 1 if extent else 0 for extent in self.seen[:places]]
        return min(found), max(found)

    def _over(self, places: range) -> Extent | None:
        """Of places at equal distances: those of one phase see further the further they are, so that ends count."""
        apart = self.period // gcd(self.period, places.step)
        ends = 1 if self._is_ordered else apart
        return _hull(self.at(place) for place in (*places[:ends], *places[-ends:]))

    @cached_property
    def _is_ordered(self) -> bool:
        """No place sees anything before what its neighbour in front sees, nor less far."""
        pairs = [(self.at(place), self.at(place + 1)) for place in range(self.period)]
        return all(one and two and one[0] <= two[0] and one[1] <= two[1] for one, two in pairs)


ITSELF = Field(1, ((0, 0),))


def _moved(extent: Extent | None, first: int, last: int) -> Extent | None:
    return extent and (extent[0] + first, extent[1] + last)


def _hull(extents: Iterable[Extent | None]) -> Extent | None:
    found = [extent for extent in extents if extent]
    return (min(first for first, _ in found), max(last for _, last in found)) if found else None


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
            sides = _sizes(tensor)
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
            self.whole = _sizes(op.output)
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
        behind = _sides(op.output, len(self.whole))
        is_map = len(op.output.dims) > len(behind) + 1 and len(behind) == len(self.whole)
        has_sides = is_map and any(set(behind) <= set(each.dims) for each in maps)
        seen = []
        for tensor, fields in maps.items():
            sides = _sides(tensor, len(fields))
            if has_sides and _sizes(tensor) == (1,) * len(fields) != _sizes(op.output):
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
        places = [int(side.size) for side in behind] if has_sides else self.whole
        along = zip(zip(*seen, strict=True), self.whole, places, strict=True)
        return _stated(self._joined(*each) for each in along)

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


def _sides(tensor: Tensor, number: int) -> tuple[Dim, ...]:
    """Of a sequence its positions, wherever they stand; of a map the last dims."""
    return tuple(dim for dim in tensor.dims if dim.positions) or tensor.dims[-number:]


def _sizes(tensor: Tensor) -> tuple[int, ...]:
    return tuple(int(dim.size) for dim in tensor.dims if dim.positions) or tensor.shape[2:]


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
