"""Products under sequence parallelism that keep a GPU's own part of their input, and gather it again going back.

The collective is a part of the product: what is gathered lives no longer than that. The head alone gathers into a
buffer that stays. Experts' rows are gathered before the product, and kept.
Source: Transformer Engine, pytorch/module/linear.py and layernorm_linear.py; Megatron-LM,
megatron/core/tensor_parallel/layers.py, LinearWithGradAccumulationAndAsyncCommunication.
"""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.ir import Module, Op, Param, Tensor, walk

Sources = dict[Tensor, Tensor]  # what is gathered, and what of


def gather_again(root: Module) -> None:
    """A change to a tree in which sequences are split already."""
    ops = [op for module, _ in walk(root) for op in module.ops]
    gathered = {op.output: op.inputs[0] for op in ops if op.traits.gathers}
    others = {tensor for op in ops if not _is_plain(op) for tensor in op.inputs}
    sources = {whole: part for whole, part in gathered.items() if whole not in others}
    scattered = {op.inputs[0]: op.output for op in ops if op.traits.scatters}
    made = {op.output for op in ops if _is_plain(op)}
    for module, _ in walk(root):
        module.body[:] = [new for item in module.body for new in _folded(item, sources, scattered, made)]


def _is_plain(op: Op) -> bool:
    return op.traits.contraction and not op.select


def _folded(item: Op | Module, sources: Sources, scattered: Sources, made: set[Tensor]) -> list[Op | Module]:
    if isinstance(item, Module):
        return [item]
    if item.output in sources or (item.traits.scatters and item.inputs[0] in made):
        return []
    if _is_plain(item) and item.inputs[0] in sources:
        # the head's matrix, or the table of tokens if both are one
        roles = [tensor.weight_role for tensor in item.inputs if isinstance(tensor, Param)]
        is_head = any(role.gives_scores or role.is_table for role in roles)
        kind = "buffered_linear" if is_head else "gathering_linear"
        return [replace(item, kind=kind, inputs=(sources[item.inputs[0]], *item.inputs[1:]))]
    if _is_plain(item) and item.output in scattered:
        return [replace(item, kind="scattering_linear", output=scattered[item.output])]
    return [item]
