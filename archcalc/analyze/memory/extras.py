"""Which residents a question has beside its model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from archcalc.analyze.memory.adapter_slots import adapter_slots
from archcalc.analyze.memory.draft import draft
from archcalc.analyze.memory.reference_model import reference_model
from archcalc.analyze.memory.residents import Resident
from archcalc.analyze.memory.rollout import rollout

if TYPE_CHECKING:
    from archcalc.analyze.memory.answer import Memory
    from archcalc.spec.workload import Workload


def all_residents(memory: Memory, work: Workload, *, is_unrolled: bool = False) -> Iterator[Resident]:
    """In the order of the report. `is_unrolled`: what they allocate in passing, without loops."""
    asked, method = memory.options, memory.run.method
    if asked.lora and not memory.run.trains:
        yield adapter_slots(memory)
    if asked.draft:
        yield draft(memory, work)
    if method.reference == "same":
        yield reference_model(memory, work, is_unrolled=is_unrolled)
    if method.rollout in ("policy", "same", "sleep", "other"):
        yield rollout(memory, work)
