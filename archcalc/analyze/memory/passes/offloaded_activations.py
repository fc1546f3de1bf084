"""The pass of activation offload: what a block saves for its backward pass is in host RAM in between.

A block's tensors are copied to host RAM while the next block computes, and freed when that is done; on the way back
they are copied to the GPU while the block behind is differentiated. Those of the last block stay, since it comes first
on the way back, and so does what is saved outside of blocks. What several blocks read or save goes with the last of
them.
Source: torchtitan's activation offloading (9dc418a, apply_offload in torchtitan/parallelisms/parallelize_llama.py:
wait_for_d2h behind the next layer, copy_h2d_async of the layer before).
"""

from __future__ import annotations

from archcalc.analyze.memory.schedule import Cell, Group, Schedule, savers_in, steps
from archcalc.core.ir import Region


def offload_activations(schedule: Schedule) -> None:
    """Say of each block but the last which saved tensors leave the GPU with it."""
    blocks = [group for group in schedule.groups() if group.module.region == Region.BLOCK]
    within = {number: group for group in blocks for number in _numbers(group)}
    schedule.offloaded = {group: [] for group in blocks[:-1]}
    needed = dict[Cell, int]()
    for cell, number in savers_in(schedule.nodes):
        if number in within or cell in needed:
            needed[cell] = max(needed.get(cell, schedule.last_read[cell]), number)
    for cell, number in needed.items():
        group = within.get(number)
        if group in schedule.offloaded and _is_activation(schedule, cell):
            schedule.offloaded[group].append(cell)


def _numbers(group: Group) -> list[int]:
    return [group.first, *(step.number for step in steps(group.body))]


def _is_activation(schedule: Schedule, cell: Cell) -> bool:
    """Neither logits, nor what is there from one step to the next."""
    kept = cell in schedule.logits or cell in schedule.outliving
    return bool(schedule.bytes[cell]) and not kept and cell.tensor.role != "cache"
