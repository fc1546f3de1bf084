"""Memory over a step: allocations and frees on top of what is always allocated, and the peaks.

line = Levels(base).play(changes)
line.peak.parts, line.peak.phase, line.peak.place       the peak
line.instants                                           the peak of each phase and module, in order
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from archcalc.analyze.memory.decode_cache import Cached
from archcalc.analyze.memory.schedule import Schedule
from archcalc.core.ir import Module, Region
from archcalc.core.tree import ancestors


class Stream(IntEnum):
    """The CUDA stream that a block is allocated on. The allocator lends no memory from one to another."""

    COMPUTE = 0
    ALL_GATHER = 1
    REDUCE_SCATTER = 2

    @property
    def words(self) -> str:
        return self.name.lower().replace("_", "-")


@dataclass(eq=False, slots=True)
class Block:
    """One allocation: the storage of a tensor, or a buffer. `what` is the tensor, where there is one."""

    part: str
    bytes: int
    stream: Stream = Stream.COMPUTE
    what: object = None


class Change(NamedTuple):
    """A block allocated, or (fewer bytes) freed."""

    part: str
    bytes: int
    phase: str
    module: Module
    block: Block
    run: int = 0  # which run of a repeated block it belongs to, by the number of its first op
    number: int = -1  # of the op that runs; -1: none


@dataclass(frozen=True)
class Repeated:
    """Changes that happen `times` times in a row."""

    changes: list[Happening]
    times: int


Happening = Change | Repeated


class Simulated(NamedTuple):
    """A simulated step: the bytes allocated at its start, by part, and the changes during it."""

    start: dict[str, int]
    changes: list[Happening]
    schedule: Schedule
    cache: Sequence[Cached] = ()
    by_host: int = 0  # bytes of activations at the peak of what the CPU computes instead


@dataclass(frozen=True)
class Place:
    """A block or a top-level module, as an answer names it."""

    path: str
    runs: int


@dataclass(frozen=True)
class Instant:
    phase: str
    place: Place
    parts: dict[str, int]
    bytes: int


class Places:
    """Where each module's instants are recorded: one place for each block and top-level module."""

    def __init__(self) -> None:
        self._known: dict[Module, Place] = {}

    def of(self, module: Module) -> Place:
        found = self._known.get(module)
        if found is None:
            above = _stretch(module)
            found = self._known.setdefault(above, Place(above.path, int(above.runs)))
            self._known[module] = found
        return found


@dataclass
class Levels:
    """Applies changes on top of what is always allocated, and remembers the peaks."""

    parts: dict[str, int]
    instants: list[Instant] = field(default_factory=list)
    number: int = 0
    places: Places = field(default_factory=Places)

    def __post_init__(self) -> None:
        self.number = sum(self.parts.values())

    def play(self, happenings: Iterable[Happening]) -> Levels:
        for one in happenings:
            if isinstance(one, Change):
                self.parts[one.part] += one.bytes
                self.number += one.bytes
                self._remember(one)
            else:
                self._repeat(one)
        return self

    def _repeat(self, repeated: Repeated) -> None:
        """Levels rise or fall evenly from one time to the next, so that the peak is in the first or the last."""
        before = dict(self.parts)
        self.play(repeated.changes)
        for part, number in self.parts.items():
            rest = (number - before[part]) * (repeated.times - 2)
            self.parts[part] += rest
            self.number += rest
        if repeated.times > 1:
            self.play(repeated.changes)

    def _remember(self, change: Change) -> None:
        where = self.places.of(change.module)
        last = self.instants[-1] if self.instants else None
        same = last is not None and last.phase == change.phase and last.place is where
        if same and last and last.bytes >= self.number:
            return
        if same:
            self.instants.pop()
        self.instants.append(Instant(change.phase, where, dict(self.parts), self.number))

    @property
    def peak(self) -> Instant:
        """For a model that computes nothing, the bytes that are always allocated."""
        still = Instant("forward", Place("", 1), dict(self.parts), self.number)
        return max(self.instants, key=lambda instant: instant.bytes, default=still)


def peak_of(step: Simulated) -> Instant:
    """When a step has the most."""
    return Levels(dict(step.start)).play(step.changes).peak


def _stretch(module: Module) -> Module:
    """The module under which an instant is recorded: a block, or a top-level module."""
    parents = ((above, above.parent) for above in ancestors(module))
    found = (above for above, parent in parents if above.region == Region.BLOCK or (parent and not parent.parent))
    return next(found, module)
