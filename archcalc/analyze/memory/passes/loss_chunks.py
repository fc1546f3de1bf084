"""Passes over the loss: which cells are logits, and logits that exist one chunk at a time."""

from __future__ import annotations

from archcalc.analyze.memory.schedule import Pass, Schedule
from archcalc.core.ir import Region


def mark_logits(schedule: Schedule) -> None:
    """Whatever the loss reads and makes is accounted as logits."""
    for step in schedule.steps():
        if step.module.region == Region.LOSS:
            schedule.logits.update(step.reads, step.makes)


def in_chunks(number: int) -> Pass:
    """Each chunk's logits are freed before the next."""

    def change(schedule: Schedule) -> None:
        schedule.chunks = number
        for cell in schedule.logits:
            schedule.bytes[cell] = -(-schedule.bytes[cell] // number)

    return change
