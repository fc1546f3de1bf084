"""The pass of activation checkpointing: regions whose inside is not saved, but recomputed in the backward pass."""

from __future__ import annotations

from archcalc.core.ir import Region, Tensor
from archcalc.core.recomputation import is_recomputed, results
from archcalc.simulate.nodes import Cell, Group, Step, read_from_outside
from archcalc.simulate.schedule import Pass, Schedule


def checkpoint(recompute: str) -> Pass:
    """Save the inputs of each checkpointed region, and those of its results that are not recomputed."""

    def change(schedule: Schedule) -> Schedule:
        for group in schedule.groups():
            if is_recomputed(group.module, recompute):
                _recompute(schedule, group, recompute)
        return schedule

    return change


def _recompute(schedule: Schedule, group: Group, recompute: str) -> None:
    """A cache is there anyway, from one step to the next: a memory of the last segment."""
    inside = schedule.steps(group)
    if group.module.region == Region.CORE:
        _copy_what_enters(schedule, inside)
    saved = results(group.module, recompute)
    group.recomputed = True
    group.reads = [cell for cell in read_from_outside(inside) if cell.tensor.role != "cache"]
    group.done = frozenset(one.op for one in saved)
    if any(step.saves for step in inside):
        made = _made(inside)
        group.results = {cell: one.module for one in saved for tensor in one.tensors for cell in made[tensor]}


def _made(inside: list[Step]) -> dict[Tensor, list[Cell]]:
    """What each tensor of the region is stored in, a cell for each run."""
    found: dict[Tensor, list[Cell]] = {}
    for step in inside:
        found.setdefault(step.op.output, []).append(step.output)
        for name, tensor in step.op.beside.items():
            found.setdefault(tensor, []).append(step.aux_outputs[name])
    return found


def _copy_what_enters(schedule: Schedule, inside: list[Step]) -> None:
    """Queries, keys and values enter attention's products as views by head, which PyTorch copies to multiply them.

    Where nothing is recomputed the copies are saved in the place of what they are copied of."""
    entering = read_from_outside(inside)
    for step in inside:
        is_eager_product = step.op.traits.matrix and not step.op.traits.attention_kernel
        for cell in [cell for cell in step.saves if is_eager_product and cell in entering]:
            copied = schedule.add_cell(step, cell.tensor, schedule.bytes[cell], of_input=True)
            step.saves[step.saves.index(cell)] = copied
