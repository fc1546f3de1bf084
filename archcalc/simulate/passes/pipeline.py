"""What a pipeline stage holds of other micro-batches while it computes one.

Their activations, of as many as are in flight; and behind the first stage the gradient that the last backward pass sent
to the stage before, which a variable of the schedule holds until the next one is there.
Source: Megatron-LM, megatron/core/pipeline_parallel/schedules.py.
"""

from __future__ import annotations

from archcalc.simulate.passes.offloaded_activations import offloaded_bytes
from archcalc.simulate.schedule import Schedule


def in_flight(schedule: Schedule, number: int, micro_batches: int) -> Schedule:
    """Of a step's micro-batches so many are in flight at once, this one among them."""
    each = sum(saved.bytes for saved in schedule.saved()) - offloaded_bytes(schedule)
    schedule.at_start["activations"] = schedule.at_start.get("activations", 0) + (number - 1) * each
    if micro_batches > number:
        sent = sum(schedule.bytes[step.output] for step in schedule.steps() if step.op.traits.leaf)
        schedule.at_start["temporary"] = schedule.at_start.get("temporary", 0) + sent
    return schedule
