"""Passes over the loss: which cells are logits, logits that exist one chunk at a time, a vocabulary over GPUs, and
logits that a training loop's variable holds after the loss has read them."""

from __future__ import annotations

from itertools import groupby

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


def hold_logits(schedule: Schedule, until: str, *, has_last_step: bool) -> Schedule:
    """Until the loss is there, until the backward pass is done, or until the model returns the next ones: then those of
    the last step, if one as long came before, are there at the start, and with them what its graph holds. A function
    that shifts an fp32 copy of the logits holds that copy too, as the model holds what its head read."""
    inside = [step for step in schedule.steps() if step.module.region == Region.LOSS]
    made = {cell for step in inside for cell in step.makes}
    returned = [cell for step in inside for cell in step.reads[:1] if cell not in made]
    shifted = [cell for step in inside if step.op.kind == "copy" for cell in step.reads[:1] if cell in made]
    if shifted and until == "loss":
        heads = [step for step in schedule.steps() if not set(step.makes).isdisjoint(returned)]
        returned += [*shifted, *(cell for step in heads for cell in step.reads[:1] if cell.tensor.role == "act")]
    schedule.held_until = dict.fromkeys(returned, until)
    if until == "next_forward" and has_last_step:
        held = [*schedule.held_until, *(one.cell for one in schedule.saved() if one.cell in schedule.outliving)]
        times = {cell: step.times for step in schedule.steps() for cell in step.makes}
        for number, alike in groupby(held, lambda cell: times.get(cell, 1)):  # a loop's, run by run
            once = [("logits" if cell in schedule.logits else "activations", schedule.bytes[cell]) for cell in alike]
            schedule.left_over.extend(once * number)
    return schedule
