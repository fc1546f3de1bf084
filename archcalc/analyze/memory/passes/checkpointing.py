"""The pass of activation checkpointing: regions whose inside is not saved, but computed again in the backward pass."""

from __future__ import annotations

from archcalc.analyze.memory.schedule import Cell, Group, Node, Pass, Step, groups, read_from_outside, steps
from archcalc.core.ir import Region, Tensor
from archcalc.core.recomputation import is_recomputed, results


def checkpoint(recompute: str) -> Pass:
    """Save what enters each region that `recompute` names, and of its results those that are not computed again."""

    def change(nodes: list[Node]) -> None:
        for group in groups(nodes):
            if is_recomputed(group.module, recompute):
                _recompute(group, recompute)

    return change


def _recompute(group: Group, recompute: str) -> None:
    if group.module.region == Region.CORE:
        _copy_what_enters(group.body)
    kept = results(group.module, recompute)
    group.recomputed, group.reads = True, list(read_from_outside(group.body))
    group.done = frozenset(one.op for one in kept)
    if any(step.keeps for step in steps(group.body)):
        made = _made(group)
        group.results = {cell: one.module for one in kept for tensor in one.tensors for cell in made[tensor]}


def _made(group: Group) -> dict[Tensor, list[Cell]]:
    """What each tensor of the region is stored in, a cell for each run."""
    found: dict[Tensor, list[Cell]] = {}
    for step in steps(group.body):
        tensors = (step.op.output, *step.op.beside.values())
        for tensor, cell in zip(tensors, step.makes, strict=False):  # passes may have added copies behind them
            found.setdefault(tensor, []).append(cell)
    return found


def _copy_what_enters(body: list[Node]) -> None:
    """Queries, keys and values enter attention's products as views by head, which PyTorch copies to multiply them.

    Where nothing is recomputed the copies are saved in the place of what they are copied of."""
    entering = read_from_outside(body)
    for step in steps(body):
        for cell in [cell for cell in step.keeps if _is_eager_product(step) and cell in entering]:
            copied = Cell(cell.tensor, cell.bytes, step.number, of_input=True)
            step.makes.append(copied)
            step.keeps[step.keeps.index(cell)] = copied


def _is_eager_product(step: Step) -> bool:
    kind = step.op.traits
    return kind.matrix and not kind.attention_kernel
