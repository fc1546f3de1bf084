"""The pass of activation checkpointing: regions whose inside is not saved, but recomputed in the backward pass."""

from __future__ import annotations

from archcalc.analyze.memory.schedule import Cell, Group, Node, Pass, Schedule, Step, read_from_outside, steps
from archcalc.core.ir import Region, Tensor
from archcalc.core.recomputation import is_recomputed, results


def checkpoint(recompute: str) -> Pass:
    """Save the inputs of each checkpointed region, and those of its results that are not recomputed."""

    def change(schedule: Schedule) -> None:
        for group in schedule.groups():
            if is_recomputed(group.module, recompute):
                _recompute(schedule, group, recompute)

    return change


def _recompute(schedule: Schedule, group: Group, recompute: str) -> None:
    if group.module.region == Region.CORE:
        _copy_what_enters(schedule, group.body)
    kept = results(group.module, recompute)
    group.recomputed, group.reads = True, [cell for cell in read_from_outside(group.body) if not _is_kept(cell)]
    group.done = frozenset(one.op for one in kept)
    if any(step.saves for step in steps(group.body)):
        made = _made(group)
        group.results = {cell: one.module for one in kept for tensor in one.tensors for cell in made[tensor]}


def _is_kept(cell: Cell) -> bool:
    """Whether it is there anyway, from one step to the next: a memory of the last segment."""
    return cell.tensor.role == "cache"


def _made(group: Group) -> dict[Tensor, list[Cell]]:
    """What each tensor of the region is stored in, a cell for each run."""
    found: dict[Tensor, list[Cell]] = {}
    for step in steps(group.body):
        found.setdefault(step.op.output, []).append(step.output)
        for name, tensor in step.op.beside.items():
            found.setdefault(tensor, []).append(step.beside[name])
    return found


def _copy_what_enters(schedule: Schedule, body: list[Node]) -> None:
    """Queries, keys and values enter attention's products as views by head, which PyTorch copies to multiply them.

    Where nothing is recomputed the copies are saved in the place of what they are copied of."""
    entering = read_from_outside(body)
    for step in steps(body):
        for cell in [cell for cell in step.saves if _is_eager_product(step) and cell in entering]:
            copied = schedule.add_copy(step, cell, schedule.bytes[cell], of_input=True)
            step.saves[step.saves.index(cell)] = copied


def _is_eager_product(step: Step) -> bool:
    kind = step.op.traits
    return kind.matrix and not kind.attention_kernel
