"""The pass of matrix products in fp8: a linear layer saves its input in one byte; all that read the same tensor share
that copy."""

from __future__ import annotations

from collections.abc import Callable

from archcalc.analyze.memory.schedule import Cell, Pass, Schedule, Step
from archcalc.core.ir import Param


def fp8(is_quantised: Callable[[Param], bool]) -> Pass:
    """Linear layers save what they read in one byte an element, but for those whose weights are quantised: such a
    weight is dequantised to 16 bits, and so is its product."""

    def change(schedule: Schedule) -> None:
        copies: dict[Cell, Cell] = {}
        for step in schedule.steps():
            is_linear = step.op.traits.matrix and bool(step.weights)
            if is_linear and not any(map(is_quantised, step.weights)):
                step.saves[:] = [_in_one_byte(schedule, cell, step, copies) for cell in step.saves]

    return change


def _in_one_byte(schedule: Schedule, cell: Cell, step: Step, copies: dict[Cell, Cell]) -> Cell:
    if cell.tensor.role != "act":
        return cell
    if cell not in copies:
        copies[cell] = schedule.add_copy(step, cell, schedule.bytes[cell] // 2)
    return copies[cell]
