"""The order in which the numbers of a tensor by head lie in memory, which decides where PyTorch has to copy it."""

from __future__ import annotations

from archcalc.core.ir import Module, Op, Tensor
from archcalc.core.tree import ops_in

WRITTEN_ANEW = ("concat", "copy", "repeat", "contract")  # kinds whose output lies in the order of its axes
BY_HEAD = 4  # axes: batch, heads, positions, width


def lies_by_head(core: Module, tensor: Tensor) -> bool:
    """Whether head follows head; else position follows position, as a linear layer has written it.

    An elementwise op keeps the order of its first input (PyTorch, TensorIterator)."""
    makers: dict[Tensor, Op] = {}
    for op in ops_in(core.parent or core):
        makers.update(dict.fromkeys((op.output, *op.beside.values()), op))
    return _follows(tensor, makers)


def _follows(tensor: Tensor, makers: dict[Tensor, Op]) -> bool:
    storage = tensor.storage
    maker = makers.get(storage)
    if maker is None or len(storage.axes) < BY_HEAD or not maker.inputs:
        return False
    return maker.kind in WRITTEN_ANEW or _follows(maker.inputs[0], makers)
