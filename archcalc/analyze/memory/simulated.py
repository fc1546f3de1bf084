"""A simulated step: what is allocated at its start, and what happens during it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from archcalc.analyze.memory.decode_cache import Cached
from archcalc.simulate.events import Event
from archcalc.simulate.schedule import Schedule


class Simulated(NamedTuple):
    """The bytes allocated at the start of a step, by part, and the changes during it."""

    start: dict[str, int]
    changes: list[Event]
    schedule: Schedule
    cache: Sequence[Cached] = ()
    by_host: int = 0  # bytes of activations at the peak of what the CPU computes instead
    own: list[Event] | None = None  # the changes of the model alone, without those of what stands beside it
