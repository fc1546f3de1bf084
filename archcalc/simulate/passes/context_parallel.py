"""Context parallelism whose attention gathers the keys and values of all GPUs.

Source: PyTorch's context_parallel, which gathers them by default, torch/distributed/tensor/experimental.
"""

from __future__ import annotations

from archcalc.simulate.schedule import Schedule


def gather_keys(schedule: Schedule, gpus: int) -> Schedule:
    """They exist while attention computes; going back, so do the gradients of all of them."""
    for step in schedule.steps():
        if step.op.traits.attention_kernel:
            step.gathered_keys = gpus * sum(schedule.bytes[cell] for cell in step.reads[1:3])
    return schedule
