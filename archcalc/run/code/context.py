"""Context parallelism by all-to-all: each GPU trades its positions of all heads for all positions of its heads.

Behind attention it trades them back; what the kernel gave and what the output projection reads are two tensors.
Source: Transformer Engine, dot_product_attention/context_parallel.py, AttnFuncWithCPAndQKVOA2A, since version 2.8.
"""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.errors import InputError
from archcalc.core.ir import Module, Op, Tensor, walk
from archcalc.core.mesh import Plan

TRADED = 3  # queries, keys and values


def trade_heads(root: Module, plan: Plan) -> None:
    if plan.cp == 1:
        return
    for module, _ in walk(root):
        module.body[:] = [new for item in module.body for new in _traded(item, plan)]


def _traded(item: Op | Module, plan: Plan) -> list[Op | Module]:
    if isinstance(item, Module) or not item.traits.attention_kernel:
        return [item]
    for tensor in item.inputs[:TRADED]:
        _check(tensor, plan)
    there = [Op("all_to_all", (tensor,), _like(tensor)) for tensor in item.inputs[:TRADED]]
    found = _like(item.output)
    kernel = replace(item, inputs=(*(op.output for op in there), *item.inputs[TRADED:]), output=found)
    return [*there, kernel, Op("all_to_all", (found,), item.output)]


def _check(tensor: Tensor, plan: Plan) -> None:
    number = plan.part(tensor.dims[1])
    if number % plan.cp:
        fact = f"an all-to-all deals out heads, and {number} of {tensor.dims[1].name} cannot be dealt to {plan.cp} GPUs"
        raise InputError(fact, "use --habit context=p2p, or a smaller --cp", field="--cp")


def _like(tensor: Tensor) -> Tensor:
    return Tensor(tensor.axes, tensor.role)
