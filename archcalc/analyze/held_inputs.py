"""Steps over weights whose products keep what they read, though nothing of them is trained.

PyTorch keeps an input of a product for the gradient of the other factor alone. bitsandbytes kept it for any matrix in 4
bits, until its version 0.43 (`ctx.tensors = (A, B)` in MatMul4Bit).
"""

from __future__ import annotations

from collections.abc import Callable

from archcalc.analyze.steps import Step, Unrolling
from archcalc.ir import Module, Op
from archcalc.places import Place


class HeldInputs(Unrolling):
    """`held` says of which matrices."""

    held: Callable[[Place], bool]

    def _step(self, op: Op, module: Module) -> Step:
        step = super()._step(op, module)
        if step.grads and any(self.held(Place(param, 1)) for param in step.weights):
            step.keeps.extend(cell for cell in step.reads if cell.tensor.role == "act" and cell not in step.keeps)
        return step
