"""Logits that every GPU of a tensor-parallel group gathers, where others leave the vocabulary divided.

Source: transformers, `_tp_plan` of its causal language models: lm_head is colwise_gather_output.
"""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.ir import Axes, Dim, Module, Op, Tensor
from archcalc.core.tree import ops_in
from archcalc.run.code.chunks import head_and_loss


def gather_logits(root: Module) -> None:
    """Behind the product of the head, for all that is made of it."""
    found = head_and_loss(root)
    if not found:
        return
    head, loss = found
    product = next(op for op in ops_in(head) if op.traits.contraction)
    gathered = {product.output: _whole(product.output)}
    for module in (head, *head.children, loss):
        module.body[:] = [new for item in module.body for new in _written(item, product, gathered)]


def _written(item: Op | Module, product: Op, gathered: dict[Tensor, Tensor]) -> list[Op | Module]:
    if isinstance(item, Module):
        return [item]
    if item is product:
        return [item, Op("copy", (item.output,), gathered[item.output])]
    if not any(one in gathered for one in item.inputs):
        return [item]
    gathered[item.output] = _whole(item.output)
    inputs = tuple(gathered.get(one, one) for one in item.inputs)
    beside = {name: _whole(one) for name, one in item.beside.items()}
    return [
        replace(
            item, inputs=inputs, output=gathered[item.output], beside=beside, over=tuple(map(_undivided, item.over))
        )
    ]


def _whole(tensor: Tensor) -> Tensor:
    axes: Axes = tuple(tuple(map(_undivided, axis)) for axis in tensor.axes)
    return Tensor(axes, tensor.role)


def _undivided(dim: Dim) -> Dim:
    return replace(dim, split=None)
