"""The order in which the numbers of a tensor by head lie in memory, which decides where PyTorch has to copy it."""

from __future__ import annotations

from archcalc.core.ir import Module, Op, Tensor
from archcalc.core.tree import ops_in

WRITTEN_ANEW = ("concat", "copy", "repeat", "contract")  # kinds whose output lies in the order of its axes
BY_HEAD = 4  # axes: batch, heads, positions, width


class Layouts:
    """Of what the ops of some module make."""

    def __init__(self, module: Module) -> None:
        self.makers: dict[Tensor, Op] = {}
        for op in ops_in(module):
            self.makers.update(dict.fromkeys((op.output, *op.beside.values()), op))

    def lies_by_head(self, tensor: Tensor) -> bool:
        """Whether head follows head; else position follows position, as a linear layer has written it.

        An elementwise op keeps the order of its first input (PyTorch, TensorIterator)."""
        storage = tensor.storage
        maker = self.makers.get(storage)
        if maker is None or len(storage.axes) < BY_HEAD or not maker.inputs:
            return False
        return maker.kind in WRITTEN_ANEW or self.lies_by_head(maker.inputs[0])
