"""A step op by op: what is alive at the fullest instant of each op, tensor by tensor.

    trace = traced_step(start, events, schedule)
    trace.instants[trace.peak].bytes               the peak, that of `Levels`
    trace.alive(trace.peak)                        copies of every tensor that is there

Of a loop the first run and the last are played: in between each tensor has evenly more copies, or fewer, so that any
run follows from the two (`Loop`). Tensors that the same op makes for the same use are one, with as many copies.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from archcalc.core.ir import Module, Op
from archcalc.simulate.events import Block, Change, Event, Repeated
from archcalc.simulate.nodes import Group
from archcalc.simulate.schedule import Schedule


class Instant(NamedTuple):
    """The fullest instant of an op, or of what happens between two. `layer` is the run of the block that it is in, from
    1 on; 0 outside of blocks, and where blocks run within more than one loop."""

    phase: str
    module: Module
    op: Op | None
    layer: int
    bytes: int


class Stretch(NamedTuple):
    """Instants of the first run of a loop, and behind them as many of its last run."""

    first: int
    length: int
    times: int


@dataclass(eq=False)
class Life:
    """A tensor with all of its copies. `copies` says how many there are from an instant on, wherever that changes."""

    block: Block  # one of them
    born: int
    phase: str
    module: Module  # where it is made
    op: Op | None
    dies: int | None = None  # where the last copy goes; None: it outlives the step
    most: int = 0  # copies at once, at whatever instant
    copies: dict[int, int] = field(default_factory=dict)

    def at(self, instant: int) -> int:
        return next((number for place, number in reversed(self.copies.items()) if place <= instant), 0)


@dataclass
class Trace:
    """`start` is there before the step, by part."""

    start: dict[str, int]
    instants: list[Instant] = field(default_factory=list)
    loops: list[Stretch] = field(default_factory=list)
    lives: list[Life] = field(default_factory=list)

    @property
    def peak(self) -> int:
        """The place of the first of the fullest instants."""
        return max(range(len(self.instants)), key=lambda place: self.instants[place].bytes, default=-1)

    def alive(self, instant: int) -> list[tuple[Life, int]]:
        """The largest first."""
        found = [(life, life.at(instant)) for life in self.lives]
        return sorted((one for one in found if one[1]), key=lambda one: -one[0].block.bytes * one[1])


def traced_step(start: dict[str, int], events: Iterable[Event], schedule: Schedule) -> Trace:
    """Every op of the step that allocates or frees."""
    ops = {(step.module, step.number): step.op for step in schedule.steps()}
    player = _Player(Trace(dict(start)), ops, _layers(schedule.blocks), level=sum(start.values()))
    player.play(events)
    for life in player.trace.lives:
        if player.alive[life]:
            life.dies = None
    return player.trace


def _layers(blocks: Iterable[Group]) -> dict[int, int]:
    """By the number of its first step, which run of its module each block is."""
    found, runs = dict[int, int](), dict[Module, int]()
    for block in blocks:
        found[block.first] = runs.get(block.module, 0) + 1
        runs[block.module] = runs.get(block.module, 0) + block.times
    return found


Where = tuple[str, Module, int, int]


@dataclass
class _Player:
    """Applies events one by one, and writes down an instant for all in a row that are of one op."""

    trace: Trace
    ops: dict[tuple[Module, int], Op]
    layers: dict[int, int]
    level: int
    where: Where | None = None
    of: dict[Block, Life] = field(default_factory=dict)
    known: dict[tuple[object, ...], Life] = field(default_factory=dict)
    alive: dict[Life, int] = field(default_factory=dict)
    moved: dict[Life, None] = field(default_factory=dict)  # since the last instant was written down
    turns: list[tuple[int, int]] = field(default_factory=list)  # of loops: their first step, and runs before this one

    def play(self, events: Iterable[Event]) -> None:
        for one in events:
            if isinstance(one, Repeated):
                self._repeat(one)
            else:
                self._apply(one)

    def _apply(self, change: Change) -> None:
        instants, where = self.trace.instants, (change.phase, change.module, change.number, change.run)
        is_new = where != self.where
        self.where = where
        self._count(change, len(instants) - (not is_new))
        self.level += change.bytes
        if is_new:
            op = self.ops.get((change.module, change.number))
            instants.append(Instant(change.phase, change.module, op, self._layer(change.run), self.level))
        elif self.level > instants[-1].bytes:
            instants[-1] = instants[-1]._replace(bytes=self.level)
        else:
            return
        self._write_down(len(instants) - 1)

    def _write_down(self, place: int) -> None:
        for life in self.moved:
            life.copies[place] = self.alive[life]
        self.moved.clear()

    def _count(self, change: Change, place: int) -> None:
        """One more copy of a tensor, or one less."""
        block, life = change.block, self.of.get(change.block)
        if not change.bytes:
            return
        if life is None:
            op = self.ops.get((change.module, change.number))
            made = op or change.module, change.phase
            key = (*made, block.part, block.bytes, block.use, block.what or block.of)
            life = self.known.get(key)
            if life is None:
                life = self.known[key] = Life(block, place, change.phase, change.module, op)
                self.trace.lives.append(life)
                self.alive[life] = 0
            self.of[block] = life
        self.alive[life] += 1 if change.bytes > 0 else -1
        life.most = max(life.most, self.alive[life])
        life.dies = place
        self.moved[life] = None

    def _repeat(self, repeated: Repeated) -> None:
        """The first run; as many more copies as it left behind, for each run in between; the last."""
        first, before, level = len(self.trace.instants), dict(self.alive), self.level
        self._run(repeated, 0)
        length, rest = len(self.trace.instants) - first, repeated.times - 2
        if rest < 0:
            return
        grown = {life: number - before.get(life, 0) for life, number in self.alive.items()}
        for life in [life for life, number in grown.items() if number]:
            self.alive[life] += rest * grown[life]
            self.moved[life] = None
        self.level += rest * (self.level - level)
        self._run(repeated, repeated.times - 1)
        if length:
            self.trace.loops.append(Stretch(first, length, repeated.times))

    def _run(self, repeated: Repeated, run: int) -> None:
        times, loop = repeated.times, repeated.loop
        before = times - 1 - run if repeated.is_reversed else run  # in the order of the forward pass
        self.turns.append((loop.first if loop else 0, before))
        self.where = None
        self.play(repeated.changes)
        self.where = None
        self.turns.pop()

    def _layer(self, run: int) -> int:
        found = self.layers.get(run, 0)
        around = [before for first, before in self.turns if first <= run]
        if len(around) > 1:
            return 0
        return found + sum(around) if found else 0
