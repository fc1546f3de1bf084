"""What stands beside the model on its GPUs: a draft model, adapters, a reference model, a rollout engine.

    joined(step, residents)      the simulated step with all of them

A resident holds parts all the time, and allocates others in passing: behind the step, or before one of its phases.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from archcalc.analyze.memory.rows import OF_LAYERS, Row
from archcalc.analyze.memory.simulated import Simulated
from archcalc.core.assumptions import Assumption
from archcalc.simulate.events import Change, Event

CACHES = ("draft_cache", "rollout_cache")  # parts of residents that are no weights


@dataclass(frozen=True)
class Resident:
    """`held` bytes by part of the report. `passing` are changes before the phase `before`, or at the end.
    `elsewhere` is what it takes on GPUs of its own."""

    name: str
    title: str
    held: dict[str, int] = field(default_factory=dict)
    passing: list[Event] = field(default_factory=list)
    before: str = ""
    own_pool: bool = False  # what it allocates in passing is no memory of PyTorch's allocator
    elsewhere: int = 0
    assumptions: tuple[Assumption, ...] = ()

    @property
    def row(self) -> Row:
        cached = sum(size for part, size in self.held.items() if part in CACHES)
        parts = dict.fromkeys(OF_LAYERS, 0) | {"weights": sum(self.held.values()) - cached, "kv_cache": cached}
        return Row(self.name, self.title, 1, 1, parts, kind="resident")


def joined(step: Simulated, residents: Iterable[Resident]) -> Simulated:
    """The step on top of what residents hold, with what they allocate in passing."""
    found = list(residents)
    held = {part: size for one in found for part, size in one.held.items()}
    return step._replace(start=step.start | held, changes=passing(step.changes, found))


def passing(changes: list[Event], residents: Iterable[Resident]) -> list[Event]:
    """The changes of a step, and those of residents at their place in it."""
    for one in residents:
        beginning = (place for place, each in enumerate(changes) if one.before and one.before in _phases(each))
        place = next(beginning, len(changes))
        changes = [*changes[:place], *one.passing, *changes[place:]]
    return changes


def _phases(one: Event) -> Iterator[str]:
    if isinstance(one, Change):
        yield one.phase
    else:
        yield from (phase for each in one.changes for phase in _phases(each))


def in_phase(changes: Iterable[Event], phase: str) -> list[Event]:
    """The same changes in a phase of their own."""
    return [
        one._replace(phase=phase) if isinstance(one, Change) else replace(one, changes=in_phase(one.changes, phase))
        for one in changes
    ]
