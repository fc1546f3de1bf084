"""Memory over a step: allocations and frees on top of what is always allocated, and the peaks.

line = Levels(base).play(events)
line.peak.parts, line.peak.phase, line.peak.place       the peak
line.instants                                           the peak of each phase and module, in order
stages(base, events)                                    the same, of every copy of a repeated block apart
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from archcalc.core.ir import Module, Region
from archcalc.simulate.events import Change, Event, Repeated

COPIES = (48, 24, 12, 6, 2)  # of a block or a step that are shown apart: as many as give no more than MOST stages
MOST = 150


@dataclass(frozen=True)
class Place:
    """A block or a top-level module, as an answer names it."""

    path: str
    runs: int


@dataclass(frozen=True)
class Snapshot:
    """What is allocated at one instant, by part of the report."""

    phase: str
    place: Place
    parts: dict[str, int]
    bytes: int
    run: tuple[int, int] = field(default=(0, 0), compare=False)  # shown apart: which block, and which turn in a loop

    @property
    def is_one_of_many(self) -> bool:
        return self.run != (0, 0)


class Places(dict[Module, Place]):
    """Where each module's snapshots are recorded: one place for each block and top-level module."""

    def __missing__(self, module: Module) -> Place:
        outer = (one for one in module.ancestry if one.region == Region.BLOCK or (one.parent and not one.parent.parent))
        found = next(outer, module)
        self[module] = self[found] if found is not module else Place(module.path, int(module.runs))
        return self[module]


@dataclass
class Levels:
    """Applies events on top of what is always allocated, and remembers the peaks: of all copies of a block the highest,
    or of each copy, as far as there is room."""

    parts: dict[str, int]
    is_apart: bool = False
    room: int = 2  # copies of a block or a step that are played
    turn: int = 0  # of the loop that it is in, from 1 on
    instants: list[Snapshot] = field(default_factory=list)
    places: Places = field(default_factory=Places)

    def play(self, events: Iterable[Event]) -> Levels:
        """Of each phase and place in a row the highest is remembered."""
        number = sum(self.parts.values())
        for one in events:
            if not isinstance(one, Change):
                self._repeat(one)
                number = sum(self.parts.values())
                continue
            self.parts[one.part] += one.bytes
            number += one.bytes
            where, last = self.places[one.module], self.instants[-1] if self.instants else None
            run = (one.run, self.turn) if self.is_apart else (0, 0)
            if last and last.phase == one.phase and last.place is where and last.run == run:
                if last.bytes >= number:
                    continue
                self.instants.pop()
            self.instants.append(Snapshot(one.phase, where, dict(self.parts), number, run))
        return self

    def _repeat(self, repeated: Repeated) -> None:
        """Levels rise or fall evenly from one time to the next, so that the peak is in the first or the last. Copies
        within copies are shown apart as long as there is room for all of them."""
        room, turn, times, most = self.room, self.turn, repeated.times, max(self.room, 2)
        evenly = {round(place * (times - 1) / (most - 1)) for place in range(most)}
        played = sorted(evenly) if times > most else range(times)
        grown, last = dict[str, int](), -1
        for copy in played:
            for part, size in grown.items():
                self.parts[part] += size * (copy - last - 1)
            before, last = dict(self.parts), copy
            if len(played) <= room:
                self.room, self.turn = room // len(played), copy + 1
            self.play(repeated.changes)
            grown = {part: size - before[part] for part, size in self.parts.items()}
        self.room, self.turn = room, turn

    @property
    def peak(self) -> Snapshot:
        """For a model that computes nothing, the bytes that are always allocated."""
        still = Snapshot("forward", Place("", 1), dict(self.parts), sum(self.parts.values()))
        return max(self.instants, key=lambda instant: instant.bytes, default=still)


def stages(start: dict[str, int], events: list[Event]) -> tuple[Snapshot, ...]:
    """The peak within each phase and module of a step, of every run where it runs many times, in as much detail as
    gives no more than MOST of them."""
    found: list[Snapshot] = []
    for room in COPIES:
        found = Levels(dict(start), is_apart=True, room=room).play(events).instants
        if len(found) <= MOST:
            break
    return tuple(found)
