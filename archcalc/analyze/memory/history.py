"""A training code without a month is today's: by how much its earlier versions move the answer, where they do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError
from archcalc.run.accuracy import Band

if TYPE_CHECKING:
    from archcalc.analyze.memory.answer import Memory
    from archcalc.spec.workload import Workload

NOTABLE = 0.03  # where nothing was measured that a band could be told of


def history_notes(memory: Memory, work: Workload, now: int, error: Band | None) -> Iterator[Assumption]:
    """The code as it stood at the end of each earlier year, where that is off by more than the band."""
    used = memory.run.code
    if used.version or not used.changed:
        return
    peaks = {month: _peak(memory, work, f"{used.name}@{month}") for month in used.ends_of_years()}
    moved = {month: peak / now - 1 for month, peak in peaks.items() if peak}
    notable = error.fraction if error else NOTABLE
    shown = [f"{share:+.0%} in {month}" for month, share in moved.items() if abs(share) > notable]
    if shown:
        text = f"{used.name} without a month is today's; its earlier code took {', '.join(shown)}"
        yield Assumption(Topic.CODE, text, used.name, f"--code {used.name}@MONTH")


def _peak(memory: Memory, work: Workload, code: str) -> int | None:
    """None where that version does not have such a model or such options."""
    try:
        return memory.another(memory.model, replace(memory.options, code=code), memory.run.stage).peak(work).bytes
    except InputError:
        return None
