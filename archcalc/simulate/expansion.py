"""A step of many equal layers, run by run: what a loop does once is written down for each of its runs.

    expanded(events)        every allocation and every free, or None where the runs of a loop are not alike

In a loop each run allocates blocks of its own. It frees blocks of the same run, of the run before or of the one behind:
the simulation, which follows one run of the loop, shows those as blocks of the last run in front of the loop, or of the
first one behind it. The block of a neighbour is the one that the same op allocated as the same one in its row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from archcalc.simulate.events import Block, Change, Event, Repeated
from archcalc.simulate.nodes import Loop


class Origin(NamedTuple):
    """Where a block is allocated: by which op, as which of those alike; and in which innermost loop, if in one."""

    phase: str
    number: int
    alike: tuple[object, ...]
    place: int
    loop: Loop | None
    is_reversed: bool


def expanded(events: Sequence[Event]) -> list[Change] | None:
    """Innermost loops first, until there are no loops any more."""
    found = list(events)
    try:
        while any(isinstance(one, Repeated) for one in found):
            found = _Expansion(found).play(found)
    except _NotAlikeError:
        return None
    whole = [one for one in found if isinstance(one, Change)]
    alive: set[Block] = set()
    for one in whole:
        if one.bytes > 0:
            alive.add(one.block)
        elif one.bytes and one.block not in alive:  # freed twice: by runs that are further apart than neighbours
            return None
        else:
            alive.discard(one.block)
    return whole


class _NotAlikeError(Exception):
    """Of a run of a loop it is not known what it frees."""


@dataclass
class _Expansion:
    """All innermost loops: the blocks that each of their runs allocates and has yet to free."""

    events: list[Event]
    origins: dict[Block, Origin] = field(default_factory=dict)
    blocks: dict[Origin, Block] = field(default_factory=dict)
    alive: dict[tuple[Block, int], Block] = field(default_factory=dict)  # by the number of the run
    outer: set[Loop | None] = field(default_factory=set)  # loops with others within

    def __post_init__(self) -> None:
        every: list[tuple[Event, Repeated | None]] = []  # each with what it is repeated by
        waiting: list[tuple[Event, Repeated | None]] = [(one, None) for one in reversed(self.events)]
        while waiting:
            one, within = waiting.pop()
            every.append((one, within))
            if isinstance(one, Repeated):
                waiting.extend((each, one) for each in reversed(one.changes))
        self.outer = {within.loop for one, within in every if within and isinstance(one, Repeated)}
        places: Counter[tuple[object, ...]] = Counter()
        for change, within in every:
            if isinstance(change, Change) and change.bytes >= 0:
                loop, is_reversed, block = None, False, change.block
                if within and within.loop not in self.outer:
                    loop, is_reversed = within.loop, within.is_reversed
                key = change.phase, change.number, (block.part, block.bytes, block.stream, block.what)
                origin = Origin(*key, places[key], loop, is_reversed)
                places[key] += 1
                self.origins[block], self.blocks[origin] = origin, block

    def play(self, events: list[Event]) -> list[Event]:
        """The same events with the runs of innermost loops."""
        found: list[Event] = []
        behind: list[Change] = []  # frees in a row of blocks of all runs, behind a loop
        for one in events:
            loop = self.origins[one.block].loop if isinstance(one, Change) and one.bytes < 0 else None
            offset = loop.offset(one.number) if loop and isinstance(one, Change) else None
            if isinstance(one, Change) and loop and offset is None:
                behind.append(one)
                continue
            found.extend(self._of_all_runs(behind))
            behind = []
            if isinstance(one, Repeated) and one.loop in self.outer:
                found.append(replace(one, changes=self.play(one.changes)))
            elif isinstance(one, Repeated):
                found.extend(self._runs(one))
            elif loop and offset:  # freed by the run behind the loop, or on the way back by the run in front of it
                last = loop.times - 1 if offset > 0 else 0
                found.append(one._replace(block=self._taken(one.block, last)))
            else:
                found.append(one)
        return [*found, *self._of_all_runs(behind)]

    def _of_all_runs(self, frees: list[Change]) -> Iterator[Change]:
        """In the order in which the runs allocated: gradients, which the optimizer's step frees."""
        loops = dict.fromkeys(self.origins[one.block].loop for one in frees)
        for loop in loops:
            own = [one for one in frees if self.origins[one.block].loop is loop]
            runs = range(loop.times if loop else 0)
            for run in reversed(runs) if self.origins[own[0].block].is_reversed else runs:
                yield from (one._replace(block=self._taken(one.block, run)) for one in own)

    def _runs(self, repeated: Repeated) -> list[Change]:
        """Every run of a loop."""
        found: list[Change] = []
        times, loop = repeated.times, repeated.loop
        if loop is None:
            raise _NotAlikeError
        pattern = [self._like(change, loop) for change in repeated.changes if isinstance(change, Change)]
        for run in reversed(range(times)) if repeated.is_reversed else range(times):
            for (part, size, phase, module, made, block_run, number), block, offset in pattern:
                if offset is None:
                    made = self.alive[block, run] = Block(part, size, made.stream, made.what, made.use, made.of)
                elif 0 <= run + offset < times:
                    made = self._taken(block, run + offset)
                found.append(Change(part, size, phase, module, made, block_run, number))
        return found

    def _like(self, change: Change, loop: Loop) -> tuple[Change, Block, int | None]:
        """A change of the loop, the loop's own block that is like the one that it frees, and how many runs away that
        is; None for what it allocates."""
        block, origin = change.block, self.origins[change.block]
        if change.bytes >= 0:
            return change, block, None
        if origin.loop is loop:
            return change, block, 0
        offset = loop.offset(origin.number)
        number = origin.number - (offset or 0) * loop.length
        repeats = (origin._replace(number=number, loop=loop, is_reversed=back) for back in (False, True))
        own = next((self.blocks[one] for one in repeats if one in self.blocks), None)
        if not offset or origin.loop or own is None:
            raise _NotAlikeError
        return change, own, offset

    def _taken(self, block: Block, run: int) -> Block:
        """What a run allocated in the place of this block."""
        found = self.alive.pop((block, run), None)
        if found is None:
            raise _NotAlikeError
        return found
