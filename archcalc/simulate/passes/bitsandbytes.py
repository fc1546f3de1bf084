"""A pass for bitsandbytes until 0.43.1, whose 4-bit products save their input although the matrix is frozen.

PyTorch saves an input of a product only for the gradient of the other factor. bitsandbytes saved it for every matrix in
4 bits, as an attribute of the graph's node (`ctx.tensors = (A, B)` in MatMul4Bit, until its pull request 1270): it is
not freed when the backward pass has used it, but with the graph, which whoever holds the model's output holds.
"""

from __future__ import annotations

from collections.abc import Callable

from archcalc.core.ir import Param
from archcalc.simulate.schedule import Schedule


def hold_inputs(schedule: Schedule, is_quantised: Callable[[Param], bool]) -> Schedule:
    """Products with a quantised matrix save their input whenever a gradient flows through them."""
    for step in schedule.steps():
        if step.grads and any(map(is_quantised, step.weights)):
            inputs = [cell for cell in step.reads if cell.tensor.role == "act"]
            step.saves.extend(cell for cell in inputs if cell not in step.saves)
            schedule.outliving.update(inputs)
    return schedule
