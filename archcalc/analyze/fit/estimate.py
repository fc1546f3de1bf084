"""What several changes need together, estimated from what each does alone to every part of memory in every phase."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from archcalc.analyze.fit.change import Change
from archcalc.analyze.fit.need import required, room
from archcalc.analyze.fit.request import Request, tried
from archcalc.analyze.memory.peak import peak
from archcalc.run.device import Device
from archcalc.simulate.levels import Levels, Snapshot

PASSING = ("activations", "logits", "temporary")
Phases = dict[str, dict[str, int]]  # bytes by phase of the step and by part


@dataclass(frozen=True)
class Estimate:
    """Of changes to a request on a device."""

    request: Request
    device: Device

    @cached_property
    def base(self) -> Phases:
        return _phases(self.request)

    @cached_property
    def alone(self) -> dict[int, tuple[Phases, int]]:
        """By change: what it leads to, and what may be needed then, since it may lead where nothing was measured."""
        return {}

    @cached_property
    def reserve(self) -> float:
        """What the allocator takes for a byte of tensors."""
        return required(self.request) / (peak(self.request.deployment, self.request.sizes).bytes or 1)

    def knows(self, change: Change) -> bool:
        """Whether the model and its other options allow the change, and it has an effect."""
        if id(change) not in self.alone:
            with_it = tried(self.request, change)
            if with_it:
                self.alone[id(change)] = _phases(with_it), room(with_it, self.device).safe
        return id(change) in self.alone and self.alone[id(change)][0] != self.base

    def is_enough(self, chosen: Sequence[Change]) -> bool:
        """Whether all of them together may be."""
        found = [self.alone[id(change)] for change in chosen]
        phases = [each for each, _ in found]
        needed = self.reserve * max(sum(self._parts(phase, phases)) for phase in self.base)
        return needed <= min(safe for _, safe in found)

    def _parts(self, phase: str, found: list[Phases]) -> Iterator[float]:
        """Each part, shrunk by as much as each change shrinks it."""
        base = self.base[phase]
        for part in {*base, *(part for phases in found for part in phases.get(phase, ()))}:
            sizes = [phases.get(phase, base).get(part, 0) for phases in found]
            size = base.get(part, 0)
            yield size * prod(each / size for each in sizes) if size else max(sizes, default=0)


def _phases(request: Request) -> Phases:
    """The parts when there are most activations, and when there is most of all else: in training, before the backward
    pass and behind it. One of them is the peak, or near to it."""
    step = peak(request.deployment, request.sizes).step
    levels = Levels(dict(step.start)).play(step.changes)
    instants = (*levels.instants, levels.peak)

    def passing(instant: Snapshot) -> int:
        return sum(instant.parts[part] for part in PASSING)

    return {
        "activations": max(instants, key=passing).parts,
        "states": max(instants, key=lambda one: one.bytes - passing(one)).parts,
    }
