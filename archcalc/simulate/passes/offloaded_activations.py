"""The pass of activation offload: what a block saves for its backward pass is in host RAM in between.

A block's tensors are copied to host RAM while the next block computes, and freed when that is done; on the way back
they are copied to the GPU while the block behind is differentiated. Those of the last block stay, since it comes first
on the way back, and so does what is saved outside of blocks. What several blocks read or save goes with the last of
them.
Source: torchtitan's activation offloading (9dc418a, apply_offload in torchtitan/parallelisms/parallelize_llama.py:
wait_for_d2h behind the next layer, copy_h2d_async of the layer before).
"""

from __future__ import annotations

from archcalc.simulate.nodes import Cell
from archcalc.simulate.schedule import Schedule


def offload_activations(schedule: Schedule) -> Schedule:
    """Say of each block but the last which saved tensors leave the GPU with it."""
    blocks = schedule.blocks
    within = {step.number: group for group in blocks for step in schedule.steps(group)}
    schedule.offloaded = {group: [] for group in blocks[:-1]}
    for one in schedule.saved():
        group = within.get(max(schedule.last_read[one.cell], *one.savers))
        is_saved_by_block = any(number in within for number in one.savers)
        if is_saved_by_block and group in schedule.offloaded and _is_activation(schedule, one.cell):
            schedule.offloaded[group].append(one.cell)
    return schedule


def offloaded_bytes(schedule: Schedule) -> int:
    """Activations that leave the GPU in one forward pass."""
    leaving = schedule.offloaded.items()
    return sum(group.times * schedule.bytes[cell] for group, cells in leaving for cell in cells)


def _is_activation(schedule: Schedule, cell: Cell) -> bool:
    """Neither logits, nor what is there from one step to the next."""
    stays = cell in schedule.logits or cell in schedule.outliving or cell.tensor.role == "cache"
    return bool(schedule.bytes[cell]) and not stays
