"""The tensors of an attention layer that the functions of libraries have names for: queries, keys, values, weights."""

from __future__ import annotations

from dataclasses import dataclass

from archcalc.core.ir import Module, Op, Region, Tensor, walk
from archcalc.core.tree import ops_in
from archcalc.run.code.layouts import BY_HEAD


@dataclass(frozen=True)
class Looked:
    """Queries, keys and values by head, as attention's core reads them."""

    query: Tensor
    key: Tensor
    value: Tensor


def attentions(root: Module) -> list[Module]:
    """Layers that have a core between their projections."""
    return [module for module, _ in walk(root) if core_of(module)]


def core_of(attention: Module) -> Module | None:
    """A kernel, or products of queries, keys and values; linear attention has other steps."""
    cores = (child for child in attention.children if child.region == Region.CORE)
    return next((core for core in cores if any(map(_reads_heads, core.ops))), None)


def _reads_heads(op: Op) -> bool:
    return op.traits.matrix and len(op.inputs[0].dims) == BY_HEAD


def looked_at(attention: Module) -> Looked:
    """Of the kernel, or of the first and the last product; keys and values of a group are those before the copies."""
    core = core_of(attention)
    assert core
    products = [op for op in core.ops if op.traits.matrix]
    query, key, *_ = products[0].inputs
    value = products[0].inputs[2] if products[0].traits.attention_kernel else products[-1].inputs[1]
    copied = {op.output: op.inputs[0] for op in core.ops if op.inputs and not op.traits.matrix}
    return Looked(query, copied.get(key, key), copied.get(value, value))


def stores_scores(attention: Module) -> bool:
    core = core_of(attention)
    return any(op.traits.softmax for op in core.ops) if core else False


def weights_of(attention: Module) -> list[Tensor]:
    """What eager attention multiplies values with; a kernel gives none out."""
    core = core_of(attention)
    products = [op for op in core.ops if op.traits.contraction] if core else []
    return [products[-1].inputs[0]] if products else []


def see_by_head(attention: Module, tensor: Tensor) -> None:
    """A projection seen with heads in front of positions: its gradient comes by head, and is copied back."""
    if tensor.of is None or len(tensor.dims) < BY_HEAD or min(int(dim.size) for dim in tensor.dims[1:3]) == 1:
        return
    place = next(place for place, item in enumerate(attention.body) if tensor.storage in made_by(item))
    attention.body.insert(place + 1, Op("transpose", (tensor.of,), tensor))


def made_by(item: Op | Module) -> set[Tensor]:
    ops = ops_in(item) if isinstance(item, Module) else [item]
    return {tensor for op in ops for tensor in (op.output, *op.beside.values())}
