"""Passes over the loss: which cells are logits, logits that exist one chunk at a time, a vocabulary over GPUs."""

from __future__ import annotations

from archcalc.core.ir import Region
from archcalc.simulate.schedule import Schedule


def mark_logits(schedule: Schedule) -> Schedule:
    """Whatever the loss reads and makes is accounted as logits."""
    for step in schedule.steps():
        if step.module.region == Region.LOSS:
            schedule.logits.update(step.reads, step.makes)
    return schedule


def in_chunks(schedule: Schedule, number: int) -> Schedule:
    """Each chunk's logits are freed before the next."""
    schedule.loss_chunks = number
    for cell in schedule.logits:
        schedule.bytes[cell] = -(-schedule.bytes[cell] // number)
    return schedule


def over_gpus(schedule: Schedule) -> Schedule:
    """Each GPU has the logits of a part of the vocabulary: one more tensor of them without their largest, both ways."""
    schedule.logits_copies = 1
    return schedule
