"""Sequences that are split over GPUs: in the whole model (context parallelism), or beside tensor parallelism.

Beside tensor parallelism, what no GPU's share of heads or widths divides is cut along the sequence, each of the `tp`
GPUs holding its part of the residual stream, of norms and of what they keep.
A layer that divides its output among GPUs reads the whole sequence, gathered once for all that read it; one that sums
over what is divided gives a partial result, which is summed and cut. So PyTorch's SequenceParallel does it, beside
ColwiseParallel and RowwiseParallel (pytorch/torchtitan, parallelize_llama.py); what was gathered is kept for the
backward pass, where Megatron-LM gathers it again.
"""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.errors import InputError
from archcalc.core.ir import Module, Op, Param, Tensor, walk
from archcalc.core.mesh import is_split
from archcalc.core.positions import Positions
from archcalc.core.tensors import whole
from archcalc.layers.attention_core import EAGERLY

Sources = dict[Tensor, Tensor]  # what is gathered, and what of
Gathered = dict[tuple[Module | None, Tensor], Tensor]  # by the part that reads it, and what it is gathered of


def split_sequence(root: Module) -> None:
    """Insert all-gathers and reduce-scatters between tensor-parallel and sequence-parallel ops."""
    gathered: Gathered = {}
    for module, _ in walk(root):
        module.body[:] = [new for item in module.body for new in _around(item, module, gathered)]


def check_sequence(root: Module, *, replicated: bool = False) -> None:
    """Refuse recurrent layers, memories of earlier segments, and `replicated` matrices where a library is not known to
    give them its own part of the sequence: libraries differ in whether their input is gathered."""
    for module, _ in walk(root):
        if any(dim.positions is Positions.SEGMENT for op in module.ops for dim in op.output.dims):
            why = "which has a memory of earlier segments"
            fact = f"archcalc does not know sequence parallelism for {module.path}, {why}"
            raise InputError(fact, "leave --sp out", field="--sp")
        for param in module.params.values():
            splits = [dim.split for dim in param.dims if dim.split]
            is_known = (splits or replicated) and all(split.sequence_parallel for split in splits)
            if len(param.axes) > 1 and not param.weight_role.is_table and not is_known:
                why = "has a recurrent state" if is_split(param.dims) else "tensor parallelism does not split"
                fact = f"archcalc does not know sequence parallelism for {module.path}, which {why}"
                raise InputError(fact, "leave --sp out", field="--sp")


def check_context(root: Module) -> None:
    """Refuse layers that mix positions across GPUs other than by flash attention."""
    found = {module.words.whole_sequence: module.path for module, _ in walk(root) if module.words.whole_sequence}
    others = [(what, path) for what, path in found.items() if what != EAGERLY]
    for what, path in [*others, *found.items()]:
        fact = f"context parallelism needs plain flash attention in every layer: {path} has {what}"
        raise InputError(fact, "leave --cp out" if others else "add --attention flash, or leave --cp out", field="--cp")
    if not any(op.traits.attention_kernel for module, _ in walk(root) for op in module.ops):
        fact = "context parallelism splits sequences, and this model has no attention over one"
        raise InputError(fact, "leave --cp out", field="--cp")


def _around(item: Op | Module, module: Module, gathered: Gathered) -> list[Op | Module]:
    if isinstance(item, Module) or not any(isinstance(tensor.storage, Param) for tensor in item.inputs):
        return [item]
    x, *rest = item.inputs
    if item.traits.contraction and _is_cut(x) and is_split(item.output.dims):
        key = (module.parent, x)  # all linear layers of a module read the same gathered tensor
        first, every = key not in gathered, gathered.setdefault(key, whole(x))
        reading = replace(item, inputs=(every, *rest))
        return [Op("all_gather", (x,), every), reading] if first else [reading]
    # GPUs have partial results over the sums of a matrix product, and over the rows of a split table
    summed = item.over if item.traits.contraction else ()
    if item.traits.reads_rows:
        summed = item.inputs[-1].dims
    if not (is_split(summed) and _is_cut(item.output)):
        return [item]
    partial = whole(item.output)
    return [replace(item, output=partial, name="", note=""), Op("reduce_scatter", (partial,), item.output)]


def is_gathered(tensor: Tensor) -> bool:
    """Whether it was gathered from all GPUs that share a sequence."""
    return any(dim.positions is Positions.GATHERED for dim in tensor.dims)


def _is_cut(tensor: Tensor) -> bool:
    return any(dim.positions is Positions.SEQUENCE for dim in tensor.dims) and not is_split(tensor.dims)


def gather_again(root: Module) -> None:
    """Products keep a GPU's own part of their input, and gather it again going back: a change to a tree in which
    sequences are split already.

    The collective is a part of the product: what is gathered lives no longer than that. The head alone gathers into a
    buffer that stays. Experts' rows are gathered before the product, and kept.
    Source: Transformer Engine, pytorch/module/linear.py and layernorm_linear.py; Megatron-LM,
    megatron/core/tensor_parallel/layers.py, LinearWithGradAccumulationAndAsyncCommunication."""
    ops = [op for module, _ in walk(root) for op in module.ops]
    gathered = {op.output: op.inputs[0] for op in ops if op.traits.collective == "gather"}
    others = {tensor for op in ops if not _is_plain(op) for tensor in op.inputs}
    sources = {whole: part for whole, part in gathered.items() if whole not in others}
    scattered = {op.inputs[0]: op.output for op in ops if op.traits.collective == "scatter"}
    made = {op.output for op in ops if _is_plain(op)}
    for module, _ in walk(root):
        module.body[:] = [new for item in module.body for new in _folded(item, sources, scattered, made)]


def _is_plain(op: Op) -> bool:
    return op.traits.contraction and not op.select


def _folded(item: Op | Module, sources: Sources, scattered: Sources, made: set[Tensor]) -> list[Op | Module]:
    if isinstance(item, Module):
        return [item]
    if item.output in sources or (item.traits.collective == "scatter" and item.inputs[0] in made):
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
