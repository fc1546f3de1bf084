"""The pass of matrix products in fp8: a linear layer saves its input in one byte; all that read the same tensor share
that copy."""

from __future__ import annotations

from collections.abc import Callable

from archcalc.core.ir import Param, Tensor
from archcalc.simulate.nodes import Cell
from archcalc.simulate.schedule import Schedule


def fp8(schedule: Schedule, is_quantised: Callable[[Param], bool]) -> Schedule:
    """Linear layers save what they read in one byte an element, but for those whose weights are quantised: such a
    weight is dequantised to 16 bits, and so is its product."""
    copies: dict[Cell, Cell] = {}
    for step in schedule.steps():
        if not (step.op.traits.matrix and step.weights) or any(map(is_quantised, step.weights)):
            continue
        for cell in step.saves:
            if cell.tensor.role == "act" and cell not in copies:
                narrow = Tensor(cell.tensor.axes, cell.tensor.role)
                copies[cell] = schedule.add_cell(step, narrow, schedule.bytes[cell] // 2)
        step.saves[:] = [copies.get(cell, cell) for cell in step.saves]
    return schedule
