"""Memory over a step in the detail of a picture: the peak of every copy of a repeated block, one after the other.

`Levels` keeps the highest of all copies; both read the same changes, so that their peaks are equal to the byte.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from archcalc.simulate.events import Change, Event, Repeated
from archcalc.simulate.levels import Places, Snapshot

COPIES = (48, 24, 12, 6, 2)  # of a block or a step that are shown apart: as many as give no more than MOST stages
MOST = 150


@dataclass(frozen=True)
class Stage:
    """The peak within a phase and a module, of one run of it where it runs many times."""

    instant: Snapshot
    run: tuple[int, int] = (0, 0)  # which of them: the block that ran, and how often it had done so in a loop

    @property
    def is_one_of_many(self) -> bool:
        return self.run != (0, 0)


@dataclass
class _Timeline:
    parts: dict[str, int]
    stages: list[Stage] = field(default_factory=list)
    number: int = 0
    room: int = COPIES[0]
    turn: int = 0  # of the loop that it is in, from 1 on
    places: Places = field(default_factory=Places)

    def play(self, events: Iterable[Event]) -> None:
        for one in events:
            if isinstance(one, Change):
                self._change(one.part, one.bytes)
                self._remember(one)
            else:
                self._repeat(one)

    def _change(self, part: str, size: int) -> None:
        self.parts[part] += size
        self.number += size

    def _repeat(self, repeated: Repeated) -> None:
        """Copies within copies are shown apart as long as there is room for all of them."""
        room, turn = self.room, self.turn
        drawn = _evenly(repeated.times, self.room)
        apart = len(drawn) <= room
        grown: dict[str, int] = {}
        last = -1
        for copy in drawn:
            for part, size in grown.items():
                self._change(part, size * (copy - last - 1))
            before, last = dict(self.parts), copy
            if apart:
                self.room, self.turn = room // len(drawn), copy + 1
            self.play(repeated.changes)
            grown = {part: size - before[part] for part, size in self.parts.items()}
        self.room, self.turn = room, turn

    def _remember(self, change: Change) -> None:
        where, run = self.places[change.module], (change.run, self.turn)
        last = self.stages[-1] if self.stages else None
        if last and last.instant.place is where and (last.instant.phase, last.run) == (change.phase, run):
            if last.instant.bytes >= self.number:
                return
            self.stages.pop()
        self.stages.append(Stage(Snapshot(change.phase, where, dict(self.parts), self.number), run))


def _evenly(times: int, most: int) -> list[int]:
    """The first and the last of so many, and no more than `most` in all where that is more than these two."""
    if times <= max(most, 2):
        return list(range(times))
    most = max(most, 2)
    return sorted({round(place * (times - 1) / (most - 1)) for place in range(most)})


def stages(start: dict[str, int], events: list[Event]) -> tuple[Stage, ...]:
    """Of a step in its order, in as much detail as gives no more than MOST of them."""
    found: list[Stage] = []
    for room in COPIES:
        made = _Timeline(dict(start), number=sum(start.values()), room=room)
        made.play(events)
        found = made.stages
        if len(found) <= MOST:
            break
    return tuple(found)
