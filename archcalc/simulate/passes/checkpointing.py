"""The pass of activation checkpointing: regions whose inside is not saved, but recomputed in the backward pass."""

from __future__ import annotations

from collections.abc import Container

from archcalc.core.ir import Region, Tensor
from archcalc.core.recomputation import is_recomputed, results
from archcalc.simulate.nodes import Cell, Step
from archcalc.simulate.schedule import Schedule


def checkpoint(schedule: Schedule, recompute: str) -> Schedule:
    """Save the inputs of each checkpointed region, and those of its results that are not recomputed. A cache is there
    anyway, from one step to the next: a memory of the last segment."""
    for group in schedule.groups:
        if not is_recomputed(group.module, recompute):
            continue
        inside = schedule.steps(group)
        made = {cell for step in inside for cell in step.makes}
        entering = {cell: None for step in inside for cell in step.reads if cell not in made}
        if group.module.region == Region.CORE:
            _copy_what_enters(schedule, inside, entering)
        saved = results(group.module, recompute)
        group.recomputed = True
        group.reads = [cell for cell in entering if cell.tensor.role != "cache"]
        group.done = frozenset(one.op for one in saved)
        stored: dict[Tensor, list[Cell]] = {}  # what each tensor is stored in, a cell for each run
        for step in inside:
            stored.setdefault(step.op.output, []).append(step.output)
            for name, tensor in step.op.beside.items():
                stored.setdefault(tensor, []).append(step.aux_outputs[name])
        if any(step.saves for step in inside):
            group.results = {cell: one.module for one in saved for tensor in one.tensors for cell in stored[tensor]}
    return schedule


def _copy_what_enters(schedule: Schedule, inside: list[Step], entering: Container[Cell]) -> None:
    """Queries, keys and values enter attention's products as views by head, which PyTorch copies to multiply them.

    Where nothing is recomputed the copies are saved in the place of what they are copied of."""
    for step in inside:
        is_eager_product = step.op.traits.matrix and not step.op.traits.attention_kernel
        for cell in [cell for cell in step.saves if is_eager_product and cell in entering]:
            copied = schedule.add_cell(step, cell.tensor, schedule.bytes[cell], of_input=True)
            step.saves[step.saves.index(cell)] = copied
