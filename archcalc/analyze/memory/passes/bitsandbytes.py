"""A pass for bitsandbytes until 0.43.1, whose 4-bit products keep their input although the matrix is frozen.

PyTorch saves an input of a product only for the gradient of the other factor. bitsandbytes kept it for every matrix in
4 bits, as an attribute of the graph's node (`ctx.tensors = (A, B)` in MatMul4Bit, until its pull request 1270): it is
not freed when the backward pass has used it, but with the graph, which whoever holds the model's output holds.
"""

from __future__ import annotations

from collections.abc import Callable

from archcalc.analyze.memory.schedule import Cell, Pass, Schedule, Step
from archcalc.core.ir import Param


def hold_inputs(is_quantised: Callable[[Param], bool]) -> Pass:
    """Products with a quantised matrix keep their input whenever a gradient flows through them."""

    def change(schedule: Schedule) -> None:
        for step in schedule.steps():
            if step.grads and any(map(is_quantised, step.weights)):
                schedule.outliving.update(_hold_inputs(step))

    return change


def _hold_inputs(step: Step) -> list[Cell]:
    inputs = [cell for cell in step.reads if cell.tensor.role == "act"]
    step.saves.extend(cell for cell in inputs if cell not in step.saves)
    return inputs
