"""Memory over a step: allocations and frees on top of what is always allocated, and the peaks.

line = Levels(base).play(events)
line.peak.parts, line.peak.phase, line.peak.place       the peak
line.instants                                           the peak of each phase and module, in order
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from archcalc.core.ir import Module, Region
from archcalc.core.tree import ancestors
from archcalc.simulate.events import Change, Event, Repeated


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


class Places(dict[Module, Place]):
    """Where each module's snapshots are recorded: one place for each block and top-level module."""

    def __missing__(self, module: Module) -> Place:
        found = module
        for above in ancestors(module):
            if above.region == Region.BLOCK or (above.parent and not above.parent.parent):
                found = above
                break
        self[module] = self[found] if found is not module else Place(module.path, int(module.runs))
        return self[module]


@dataclass
class Levels:
    """Applies events on top of what is always allocated, and remembers the peaks."""

    parts: dict[str, int]
    instants: list[Snapshot] = field(default_factory=list)
    number: int = 0
    places: Places = field(default_factory=Places)

    def __post_init__(self) -> None:
        self.number = sum(self.parts.values())

    def play(self, events: Iterable[Event]) -> Levels:
        """Of each phase and place in a row the highest is remembered."""
        for one in events:
            if not isinstance(one, Change):
                self._repeat(one)
                continue
            self.parts[one.part] += one.bytes
            self.number += one.bytes
            where, last = self.places[one.module], self.instants[-1] if self.instants else None
            if last and last.phase == one.phase and last.place is where:
                if last.bytes >= self.number:
                    continue
                self.instants.pop()
            self.instants.append(Snapshot(one.phase, where, dict(self.parts), self.number))
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

    @property
    def peak(self) -> Snapshot:
        """For a model that computes nothing, the bytes that are always allocated."""
        still = Snapshot("forward", Place("", 1), dict(self.parts), self.number)
        return max(self.instants, key=lambda instant: instant.bytes, default=still)
