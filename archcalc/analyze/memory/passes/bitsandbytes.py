"""A pass for bitsandbytes before 0.43, whose 4-bit products save their input although the matrix is frozen.

PyTorch saves an input of a product only for the gradient of the other factor. bitsandbytes saved it for every matrix in
4 bits, until its version 0.43 (`ctx.tensors = (A, B)` in MatMul4Bit).
"""

from __future__ import annotations

from collections.abc import Callable

from archcalc.analyze.memory.schedule import Pass, Schedule, Step
from archcalc.core.ir import Param


def save_inputs(is_quantised: Callable[[Param], bool]) -> Pass:
    """Products with a quantised matrix save their input whenever a gradient flows through them."""

    def change(schedule: Schedule) -> None:
        for step in schedule.steps():
            if step.grads and any(map(is_quantised, step.weights)):
                _save_inputs(step)

    return change


def _save_inputs(step: Step) -> None:
    step.saves.extend(cell for cell in step.reads if cell.tensor.role == "act" and cell not in step.saves)
