"""Changes that make a model fit: each alone, then the cheapest combination of several.

What a combination needs is foretold from what each change does alone, part by part and phase by phase, so that many
can be compared; those that may be enough are then simulated in the order of their cost, and only what truly fits is
answered. Nothing is kept in a combination that it fits without.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from archcalc.analyze.fit.changes import Axis, Change, in_parts, joined, shortened
from archcalc.analyze.memory.profile import Instant, Levels
from archcalc.core.errors import InputError

if TYPE_CHECKING:
    from archcalc.analyze.fit.question import Question

TRIED = 10  # combinations that are simulated, of those that may be enough
USEFUL = 4  # a shorter context is of use from a fourth of what was asked for
PASSING = ("activations", "logits", "temporary")
Phases = dict[str, dict[str, int]]  # bytes by phase of the step and by part


@dataclass(frozen=True)
class Remedy:
    """A change, the memory needed with it on each device, and how many devices there are then."""

    change: Change
    required: int
    gpus: int = 1
    changes: int = 1  # of how many it is made


def alone(question: Question, axes: Sequence[Axis], safe: int) -> Iterator[Remedy]:
    """Of each axis the cheapest change that is enough by itself."""
    for axis in axes:
        if axis[0].length:
            yield from _longest(question, safe)
        elif axis[0].batch:
            yield from _most(question, axis[0], safe)
        else:
            yield from _first(question, axis, safe)


def _first(question: Question, axis: Axis, safe: int) -> Iterator[Remedy]:
    for change in axis:
        needed = question.needed_with(change, safe)
        if needed is not None and needed <= safe:
            yield Remedy(change, needed, question.report.plan.gpus)
            return


def _most(question: Question, change: Change, safe: int) -> Iterator[Remedy]:
    """As many sequences at a time as fit; in training, such that they add up to the batch."""
    most = question.by_part.largest(safe, question.batch)
    sizes = [size for size in range(most, 0, -1) if not question.trains or question.batch % size == 0]
    yield from _first(question, tuple(in_parts(question, change, size) for size in sizes[:USEFUL]), safe)


def _longest(question: Question, safe: int) -> Iterator[Remedy]:
    """The longest that fits, where that is of use; a little less where the allocator takes a larger share."""
    asked = question.length or 0
    most = min(question.by_length.largest(safe, asked), asked - 1)
    sizes = [size for size in (most, most * 15 // 16, most * 3 // 4) if size * USEFUL >= asked and size]
    yield from _first(question, tuple(shortened(question, size) for size in sizes), safe)


def combined(question: Question, axes: Sequence[Axis], safe: int, most: int) -> Remedy | None:
    """The cheapest combination that is enough and costs less than `most`; None if there is none."""
    foretold = _Foretold(question)
    known = [[one for one in axis if foretold.knows(one)] for axis in axes]
    sets = [[one for one in chosen if one] for chosen in product(*([None, *axis] for axis in known))]
    cheap = [one for one in sets if len(one) > 1 and _cost(one) < most]
    enough = [one for one in cheap if foretold.needed(one) <= safe]
    enough.sort(key=lambda one: (_cost(one), len(one)))
    deepest = [axis[-1] for axis in known if axis]
    for chosen in (*enough[:TRIED], *([deepest] if _cost(deepest) < most else [])):
        needed = question.needed_with(joined(chosen), safe)
        if needed is not None and needed <= safe:
            return without_idle(question, chosen, safe)
    return None


def _cost(chosen: Sequence[Change]) -> int:
    return sum(one.cost for one in chosen)


def without_idle(question: Question, chosen: list[Change], safe: int) -> Remedy:
    """Without changes that are not needed, the dearest first."""
    for change in sorted(chosen, key=lambda one: -one.cost):
        fewer = [other for other in chosen if other is not change]
        needed = question.needed_with(joined(fewer), safe)
        if needed is not None and needed <= safe:
            chosen = fewer
    chosen = _enlarged(question, chosen, safe)
    needed = question.needed_with(joined(chosen)) or 0
    return Remedy(joined(chosen), needed, question.report.plan.gpus, len(chosen))


def _enlarged(question: Question, chosen: list[Change], safe: int) -> list[Change]:
    """With as many sequences at a time as fit beside the other changes, by doubling from one."""
    place = next((place for place, one in enumerate(chosen) if one.batch), None)
    if place is None:
        return chosen
    best, size = chosen, 2
    while size < question.batch:
        larger = [*chosen[:place], in_parts(question, chosen[place], size), *chosen[place + 1 :]]
        needed = question.needed_with(joined(larger), safe)
        if needed is None or needed > safe or (question.trains and question.batch % size):
            break
        best, size = larger, size * 2
    return best


class _Foretold:
    """What changes need together, by what each does to every part in every phase."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.base = _phases(question)
        self.by_change: dict[int, Phases | None] = {}
        self.reserve = question.required / (question.report.total_bytes or 1)

    def knows(self, change: Change) -> bool:
        """Whether the model and its other options allow the change at all."""
        if id(change) not in self.by_change:
            try:
                self.by_change[id(change)] = _phases(self.question.changed(change))
            except InputError:
                self.by_change[id(change)] = None
        return self.by_change[id(change)] is not None

    def needed(self, chosen: Sequence[Change]) -> float:
        found = [phases for one in chosen if (phases := self.by_change[id(one)])]
        return self.reserve * max(sum(self._parts(phase, found)) for phase in self.base)

    def _parts(self, phase: str, found: list[Phases]) -> Iterator[float]:
        base = self.base[phase]
        for part in {*base, *(part for phases in found for part in phases.get(phase, ()))}:
            sizes = [phases.get(phase, base).get(part, 0) for phases in found]
            size = base.get(part, 0)
            yield size * prod(one / size for one in sizes) if size else max(sizes, default=0)


def _phases(question: Question) -> Phases:
    """The parts when there are most activations, and when there is most of all else: in training, before the backward
    pass and behind it. One of them is the peak, or near to it."""
    step = question.memory.simulated(question.sizes)
    levels = Levels(dict(step.start)).play(step.changes)
    instants = (*levels.instants, levels.peak)
    return {
        "activations": max(instants, key=_passing).parts,
        "states": max(instants, key=lambda one: one.bytes - _passing(one)).parts,
    }


def _passing(instant: Instant) -> int:
    return sum(instant.parts[part] for part in PASSING)
