"""Keys and values of grouped-query attention, copied for every head as some libraries do before a kernel."""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.ir import Dim, Op, Tensor, axes


def copied(op: Op, *, narrow: bool) -> list[Op]:
    """Source: torchtitan until January 2026, repeat_kv; torch.compile's partitioner keeps these copies too."""
    query, key, value, *others = op.inputs
    head = query.dims[1]
    if key.dims[1] == head:
        return [op]
    copies = [Op("repeat", (tensor,), _for_each(tensor, head)) for tensor in (key, value)]
    return [*copies, replace(op, inputs=(query, *(copy.output for copy in copies), *others))]


def _for_each(tensor: Tensor, head: Dim) -> Tensor:
    batch, _, past, width = tensor.dims
    return Tensor(axes(batch, head, past, width), tensor.role)
