"""A step of many equal layers, unrolled from one of a few: layers in the middle are alike, and are written once more.

    expanded(changes, folds)        the changes of the whole step, or None where the middle layers are not alike

A module that runs often is followed through six runs alone (`schedule.ENDS`). What the third and the fourth do must be
the same: the same blocks, and frees of the same blocks of their own run, of the run before or of the one behind. Then
as many runs as were left out are put between them, each with blocks of its own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import NamedTuple

from archcalc.analyze.memory.profile import Block, Change
from archcalc.analyze.memory.schedule import Fold

BEFORE, BEHIND = 2, 3  # the runs between which others were left out
MIDDLE = (BEFORE, BEHIND)


class Place(NamedTuple):
    """Where a block is allocated in a run of the middle: in which of its stretches, and where in that."""

    stretch: int
    offset: int


class Stretch(NamedTuple):
    """Changes in a row of one run; None: of no run."""

    run: int | None
    changes: list[Change]


def expanded(changes: Sequence[Change], folds: Sequence[Fold]) -> list[Change] | None:
    """With all runs of every fold."""
    found = list(changes)
    for fold in folds:
        stretches = list(_stretches(found, fold, folds))
        whole = _Expansion(fold.left_out, stretches).whole()
        if whole is None:
            return None
        found = whole
    return found


def _stretches(changes: list[Change], fold: Fold, folds: Sequence[Fold]) -> Iterator[Stretch]:
    """What is freed outside of all runs, such as gradients behind the step, belongs to the run that allocated it."""
    made: dict[Block, int] = {}

    def run_of(change: Change) -> int | None:
        number = made.setdefault(change.block, change.number)
        if any(each.has(change.number) for each in folds):
            number = change.number
        return bisect_right(fold.starts, number) - 1 if fold.has(number) else None

    for run, found in groupby(changes, run_of):
        yield Stretch(run, list(found))


@dataclass
class _Expansion:
    """One fold: the blocks of its two runs in the middle by their place, and those of every run that was left out."""

    left_out: int
    stretches: list[Stretch]
    runs: dict[Block, int | None] = field(default_factory=dict)  # that allocate a block
    places: dict[Block, Place] = field(default_factory=dict)
    blocks: dict[tuple[int, Place], Block] = field(default_factory=dict)  # by the number of the run, of all runs

    def whole(self) -> list[Change] | None:
        """None where the runs in the middle are not alike."""
        pairs = [place for place, pair in enumerate(pairwise(self.stretches)) if {one.run for one in pair} == {*MIDDLE}]
        if 2 * len(pairs) != sum(one.run in MIDDLE for one in self.stretches):
            return None
        for number, place in enumerate(pairs):
            self._know(number, self.stretches[place], self.stretches[place + 1])
        self._know_others()
        if not (all(map(self._stays, self.stretches)) and all(map(self._is_alike, pairs))):
            return None
        return [change for place, one in enumerate(self.stretches) for change in self._around(place, one, pairs)]

    def _know(self, number: int, *pair: Stretch) -> None:
        """The blocks of a pair of stretches in the middle."""
        for stretch in pair:
            last = BEFORE if stretch.run == BEFORE else BEHIND + self.left_out
            for offset, change in enumerate(stretch.changes):
                if change.bytes >= 0:
                    self.places[change.block] = Place(number, offset)
                    self.blocks[last, Place(number, offset)] = change.block

    def _know_others(self) -> None:
        for stretch in self.stretches:
            self.runs.update({change.block: stretch.run for change in stretch.changes if change.bytes >= 0})

    def _stays(self, stretch: Stretch) -> bool:
        """Whether runs at the ends free nothing of the middle's beyond what was left out, and the middle's nothing that
        is no neighbour's."""
        freed = [self.runs[change.block] for change in stretch.changes if change.bytes < 0]
        if stretch.run in MIDDLE:
            return all(run is not None and abs(run - stretch.run) <= 1 for run in freed)
        if stretch.run is None:
            return not any(run in MIDDLE for run in freed)
        beyond = BEHIND if stretch.run < BEFORE else BEFORE
        return beyond not in freed

    def _is_alike(self, place: int) -> bool:
        """Whether a stretch of both runs does the same."""
        before, behind = sorted(self.stretches[place : place + 2], key=lambda one: one.run or 0)
        if len(before.changes) != len(behind.changes):
            return False
        return all(map(self._are_alike, before.changes, behind.changes))

    def _are_alike(self, one: Change, other: Change) -> bool:
        if one[:4] != other[:4] or one.block.stream != other.block.stream or one.block.what is not other.block.what:
            return False
        if one.bytes >= 0:
            return True
        from_one, from_other = self._from(one.block, BEFORE), self._from(other.block, BEHIND)
        return from_one == from_other and (from_one != 0 or self.places[one.block] == self.places[other.block])

    def _from(self, block: Block, run: int) -> int:
        found = self.runs[block]
        assert found is not None  # by `_stays`
        return found - run

    def _around(self, place: int, stretch: Stretch, pairs: list[int]) -> Iterator[Change]:
        """A stretch, with those that were left out before it where it is the second of its pair."""
        if place - 1 in pairs:
            numbers = range(BEHIND, BEHIND + self.left_out)
            pattern = self._pattern(place - 1)
            for number in numbers if stretch.run == BEHIND else reversed(numbers):
                yield from self._copied(pattern, pairs.index(place - 1), number)
        yield from map(self._on_the_other_side, stretch.changes, [stretch.run] * len(stretch.changes))

    def _pattern(self, place: int) -> list[tuple[Change, tuple[int, Place] | None]]:
        """What a run of the middle does in a stretch; of what it frees, how far away the run is that allocated it, and
        where: of the run behind as the one before the gap does it, else as the one behind."""
        before, behind = sorted(self.stretches[place : place + 2], key=lambda one: one.run or 0)
        found: list[tuple[Change, tuple[int, Place] | None]] = []
        for one, other in zip(before.changes, behind.changes, strict=True):
            if one.bytes >= 0:
                found.append((one, None))
                continue
            away = self._from(one.block, BEFORE)
            found.append((one, (away, self.places[one.block if away > 0 else other.block])))
        return found

    def _copied(
        self, pattern: list[tuple[Change, tuple[int, Place] | None]], stretch: int, number: int
    ) -> Iterator[Change]:
        """A stretch of a run that was left out."""
        blocks = self.blocks
        for offset, (change, freed) in enumerate(pattern):
            part, size, phase, module, like, run, step = change
            if freed:
                block = blocks[number + freed[0], freed[1]]
            else:
                block = blocks[number, Place(stretch, offset)] = Block(part, size, like.stream, like.what)
            yield Change(part, size, phase, module, block, run, step)

    def _on_the_other_side(self, change: Change, run: int | None) -> Change:
        """What one run of the middle frees of the other is now another run's."""
        if change.bytes >= 0 or run not in MIDDLE or self.runs[change.block] not in MIDDLE:
            return change
        if self.runs[change.block] == run:
            return change
        neighbour = BEHIND if run == BEFORE else BEHIND + self.left_out - 1
        return change._replace(block=self.blocks[neighbour, self.places[change.block]])
