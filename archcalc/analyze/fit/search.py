"""Changes that make a model fit: each alone, then the cheapest combination of several, first of those that do all that
was asked for.

What a combination needs is foretold from what each change does alone, part by part and phase by phase, so that many
can be compared; those that may be enough are then simulated in the order of their cost, and only what truly fits is
answered. Nothing is kept in a combination that it fits without.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from archcalc.analyze.fit.changes import Axis, Change, in_parts, joined, most_layers, shortened, with_layers
from archcalc.analyze.fit.solve import Curve
from archcalc.analyze.fit.verdict import Room
from archcalc.core.divisors import divisors
from archcalc.simulate.levels import Levels, Snapshot

if TYPE_CHECKING:
    from archcalc.analyze.fit.question import Question
    from archcalc.run.device import Device

TRIED = 10  # combinations that are simulated, of those that may be enough
USEFUL = 4  # a shorter context is of use from a fourth of what was asked for
PASSING = ("activations", "logits", "temporary")
Phases = dict[str, dict[str, int]]  # bytes by phase of the step and by part


@dataclass(frozen=True)
class Remedy:
    """A change, the memory needed with it on each device and in host RAM, and how many devices there are then."""

    change: Change
    required: int
    gpus: int = 1
    changes: int = 1  # of how many it is made
    host: int = 0
    percent: int | None = None  # the error band of that

    def is_enough_for(self, room: Room) -> bool:
        """Whether it makes the model fit on devices of this memory."""
        return self.required <= replace(room, percent=self.percent).safe


def remedy(changed: Question, change: Change, changes: int = 1) -> Remedy:
    """What the question needs once the change is made."""
    percent = changed.band.percent if changed.band else None
    return Remedy(change, changed.required, changed.options.plan.gpus, changes, changed.host_bytes, percent)


def alone(question: Question, axes: Sequence[Axis], device: Device) -> Iterator[Remedy]:
    """Of each axis the cheapest change that is enough by itself."""
    for axis in axes:
        yield from _first(question, _sized(question, axis, device), device)


def _sized(question: Question, axis: Axis, device: Device) -> Axis:
    """Of sizes, the largest that may be enough."""
    safe = question.room(device).safe
    if axis[0].length:
        return _longest(question, safe)
    if axis[0].batch:
        return _most(question, axis[0], safe)
    return _deepest(question, axis[0], device) if axis[0].gpu_layers else axis


def _first(question: Question, axis: Axis, device: Device) -> Iterator[Remedy]:
    for change in axis:
        changed = question.tried(change)
        if changed and changed.fits(device):
            yield remedy(changed, change)
            return


def _most(question: Question, change: Change, safe: int) -> Axis:
    """As many sequences at a time as fit; in training, such that they add up to the batch."""
    most = question.by_part.largest(safe, question.batch)
    fitting = [size for size in divisors(question.batch) if size <= most] if question.trains else range(1, most + 1)
    return tuple(in_parts(question, change, size) for size in reversed(fitting[-USEFUL:]))


def _longest(question: Question, safe: int) -> Axis:
    """The longest that fits, where that is of use; a little less where the allocator takes a larger share."""
    asked = question.length or 0
    most = min(question.by_length.largest(safe, asked), asked - 1)
    sizes = [size for size in (most, most * 15 // 16, most * 3 // 4) if size * USEFUL >= asked and size]
    return tuple(shortened(question, size) for size in sizes)


def _deepest(question: Question, change: Change, device: Device, beside: Sequence[Change] = ()) -> Axis:
    """As many layers on the GPU as fit, with further changes made besides."""
    tried = question.tried(joined([*beside, change]))
    if tried is None:
        return ()

    def needed(layers: int) -> int:
        return question.changed(joined([*beside, with_layers(question, layers)])).required

    most = Curve(needed).largest(tried.room(device).safe, most_layers(question))
    return (with_layers(question, most),) if most else ()


def combined(foretold: Foretold, axes: Sequence[Axis], most: int, *, cuts: bool = False) -> Remedy | None:
    """The cheapest combination that is enough and costs less than `most`; None if there is none. With `cuts` only those
    that do less than was asked for, in as few respects as possible."""
    question, device = foretold.question, foretold.device
    known = [[one for one in axis if foretold.knows(one)] for axis in axes]
    sets = [[one for one in chosen if one] for chosen in product(*([None, *axis] for axis in known))]
    cheap = [one for one in sets if len(one) > 1 and _cost(one) < most and any(each.cuts for each in one) is cuts]
    enough = [one for one in cheap if foretold.is_enough(one)]
    enough.sort(key=lambda one: (sum(each.cuts for each in one), _cost(one), len(one)))
    deepest = [axis[-1] for axis in known if axis]
    for chosen in (*enough[:TRIED], *([deepest] if _cost(deepest) < most else [])):
        if _is_enough(question, chosen, device):
            return without_idle(question, chosen, device)
    return None


def _cost(chosen: Sequence[Change]) -> int:
    return sum(one.cost for one in chosen)


def _is_enough(question: Question, chosen: list[Change], device: Device) -> bool:
    changed = question.tried(joined(chosen))
    return changed is not None and changed.fits(device)


def without_idle(question: Question, chosen: list[Change], device: Device) -> Remedy:
    """Without changes that are not needed, the dearest first; sizes as large as they may be beside the others."""
    for change in sorted(chosen, key=lambda one: one.price_order, reverse=True):
        fewer = [other for other in chosen if other is not change]
        if _is_enough(question, fewer, device):
            chosen = fewer
    chosen = _enlarged(question, _deepened(question, chosen, device), device)
    return remedy(question.changed(joined(chosen)), joined(chosen), len(chosen))


def _deepened(question: Question, chosen: list[Change], device: Device) -> list[Change]:
    """With as many layers on the GPU as fit beside the other changes."""
    place = next((place for place, one in enumerate(chosen) if one.gpu_layers), None)
    if place is None:
        return chosen
    others = [*chosen[:place], *chosen[place + 1 :]]
    deeper = [*others, *_deepest(question, chosen[place], device, others)]
    return deeper if _is_enough(question, deeper, device) else chosen


def _enlarged(question: Question, chosen: list[Change], device: Device) -> list[Change]:
    """With as many sequences at a time as fit beside the other changes, by doubling from one."""
    place = next((place for place, one in enumerate(chosen) if one.batch), None)
    if place is None:
        return chosen
    best, size = chosen, 2
    while size < question.batch:
        larger = [*chosen[:place], in_parts(question, chosen[place], size), *chosen[place + 1 :]]
        if (question.trains and question.batch % size) or not _is_enough(question, larger, device):
            break
        best, size = larger, size * 2
    return best


class Foretold:
    """What changes need together, by what each does to every part in every phase."""

    def __init__(self, question: Question, device: Device) -> None:
        self.question, self.device = question, device
        self.base = _phases(question)
        self.by_change: dict[int, Phases | None] = {}
        self.safe: dict[int, int] = {}  # what may be needed: a change may lead where nothing was measured
        self.reserve = question.required / (question.report.total_bytes or 1)

    def knows(self, change: Change) -> bool:
        """Whether the model and its other options allow the change, and it has an effect."""
        if id(change) not in self.by_change:
            changed = self.question.tried(change)
            self.by_change[id(change)] = _phases(changed) if changed else None
            self.safe[id(change)] = changed.room(self.device).safe if changed else 0
        return self.by_change[id(change)] not in (None, self.base)

    def is_enough(self, chosen: Sequence[Change]) -> bool:
        return self._needed(chosen) <= min(self.safe[id(one)] for one in chosen)

    def _needed(self, chosen: Sequence[Change]) -> float:
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


def _passing(instant: Snapshot) -> int:
    return sum(instant.parts[part] for part in PASSING)
