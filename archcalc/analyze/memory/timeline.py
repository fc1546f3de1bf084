"""Memory over a step op by op, as plain values: every tensor with its shape, its dtype, its birth and its death.

    line.ops[line.peak].bytes           the printed peak
    line.alive(line.peak)               what it consists of, besides `line.start`
    line.record(), line.packed(shared)  for programs, and for pages

`archcalc.analyze.memory.tracing` makes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from archcalc.report.table import Column, cells_of, keys, records_of
from archcalc.simulate.trace import Stretch


class OpInstant(NamedTuple):
    """An op of the step, at the instant when most is alive. `layer` is the run of its block, from 1 on."""

    phase: str
    path: str
    op: str
    layer: int
    bytes: int


@dataclass(frozen=True)
class Alive:
    """A tensor in all its copies, of `bytes` each. `born` and `dies` are places of ops; one that does not die is there
    when the step ends. `copies` are how many there are, from an op on."""

    name: str
    kind: str  # what it is one of, in the plural
    place: str  # the block or the part of the model that it is made in; nothing where it does not matter
    part: str
    shape: tuple[int, ...]
    dtype: str
    bytes: int
    born: int
    dies: int | None
    copies: dict[int, int]

    def at(self, op: int) -> int:
        return next((number for place, number in reversed(self.copies.items()) if place <= op), 0)


OPS: tuple[Column[OpInstant], ...] = keys(*OpInstant._fields)
LOOKS: tuple[Column[Alive], ...] = keys("name", "part", "shape", "dtype", "bytes")
LIFE: tuple[Column[Alive], ...] = (*keys("born", "dies"), Column("copies", get=lambda one: list(one.copies.items())))


@dataclass(frozen=True)
class Timeline:
    """`start` is there throughout, by part; of a loop its first run stands among the ops, and behind it its last."""

    start: Mapping[str, int]
    ops: tuple[OpInstant, ...]
    loops: tuple[Stretch, ...]
    tensors: tuple[Alive, ...] = field(repr=False)

    @cached_property
    def peak(self) -> int:
        """The first of the fullest ops; -1 where nothing is computed."""
        return max(range(len(self.ops)), key=lambda place: self.ops[place].bytes, default=-1)

    @property
    def peak_bytes(self) -> int:
        return self.ops[self.peak].bytes if self.ops else sum(self.start.values())

    def alive(self, op: int) -> list[tuple[Alive, int]]:
        """With the number of copies, the largest first."""
        found = [(one, one.at(op)) for one in self.tensors]
        return sorted((one for one in found if one[1]), key=lambda one: -one[0].bytes * one[1])

    def record(self) -> dict[str, Any]:
        """As programs read it."""
        return {
            "start": _filled(self.start),
            "ops": records_of(OPS, self.ops),
            "loops": [one._asdict() for one in self.loops],
            "tensors": records_of((*LOOKS, *LIFE), self.tensors),
            "peak_op": self.peak if self.ops else None,
        }

    def packed(self, shared: Shared) -> dict[str, Any]:
        """The same for a page, without what is alive at no instant that is shown."""
        seen = [one for one in self.tensors if any(one.copies.values())]
        return {
            "start": _filled(self.start),
            "ops": [shared((one.phase, one.path, one.op)) for one in self.ops],
            "layers": shared(_runs([one.layer for one in self.ops])),
            "loops": self.loops,
            "tensors": [(shared(cells_of(LOOKS, one)), shared(_steps(one.copies))) for one in seen],
        }


class Shared(dict[Any, int]):
    """Values by their places in a list, in which each stands once."""

    def __call__(self, value: Any) -> int:
        return self.setdefault(value, len(self))


def _filled(start: Mapping[str, int]) -> dict[str, int]:
    return {part: size for part, size in start.items() if size}


def _runs(values: list[int]) -> tuple[int, ...]:
    """Pairs of how often in a row, and which."""
    return tuple(each for value, same in groupby(values) for each in (len(list(same)), value))


def _steps(copies: Mapping[int, int]) -> tuple[int, ...]:
    """Pairs of how many ops later there are how many copies."""
    places = [0, *copies]
    later = (place - before for before, place in pairwise(places))
    return tuple(each for pair in zip(later, copies.values(), strict=True) for each in pair)
