"""What a pipeline stage holds of other micro-batches while it computes one.

Their activations, of as many as are in flight; and behind the first stage the gradient that the last backward pass sent
to the stage before, which a variable of the schedule holds until the next one is there.
Source: Megatron-LM, megatron/core/pipeline_parallel/schedules.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from archcalc.analyze.memory.bus import offloaded_bytes
from archcalc.analyze.memory.schedule import Schedule

if TYPE_CHECKING:
    from archcalc.run.resolved import Run


def in_flight(start: dict[str, int], step: Schedule, run: Run) -> dict[str, int]:
    """The bytes at the start of a step with those of earlier micro-batches."""
    stage = run.stage
    if not stage:
        return start
    number = stage.in_flight(run.accumulate)
    kept = (number - 1) * (sum(saved.bytes for saved in step.saved()) - offloaded_bytes(step))
    sent = sum(step.bytes[one.output] for one in step.steps() if one.op.traits.leaf)
    held = sent if run.accumulate > number else 0
    return dict(start, activations=start["activations"] + kept, temporary=start["temporary"] + held)
