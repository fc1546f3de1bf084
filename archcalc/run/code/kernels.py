"""What a kernel of attention gives out, and what it keeps besides.

Its output lies as the queries do, and is copied by position if they lie by head.
"""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.ir import Dim, Module, Op, Tensor, axes
from archcalc.run.code.attention_parts import core_of
from archcalc.run.code.efficient import statistics
from archcalc.run.code.layouts import Layouts


def lower_kernel(attention: Module) -> None:
    """Source: PyTorch, mha_fwd in aten/src/ATen/native/transformers/cuda/flash_attn/flash_api.cpp: empty_like(q);
    transformers, sdpa_attention_forward: `attn_output.transpose(1, 2).contiguous()`."""
    core = core_of(attention)
    if core:
        layouts = Layouts(attention)
        core.body[:] = [new for item in core.body for new in _by_position(item, layouts)]


def _by_position(item: Op | Module, layouts: Layouts) -> list[Op | Module]:
    if isinstance(item, Module) or not item.traits.attention_kernel or not layouts.lies_by_head(item.inputs[0]):
        return [item]
    _, head, seq, _ = item.output.dims
    if min(int(head.size), int(seq.size)) == 1:
        return [item]
    made = Tensor(item.output.axes, item.output.role)
    return [replace(item, output=made), Op("copy", (made,), item.output)]


def memory_efficient(op: Op, *, narrow: bool) -> list[Op]:
    """FlashAttention has no fp32: PyTorch takes its memory-efficient kernel, which keeps more statistics.

    Source: PyTorch, aten/src/ATen/native/transformers/cuda/sdp_utils.cpp: check_flash_attention_datatype."""
    query, key, *_ = op.inputs
    if narrow or query.dims[1] != key.dims[1]:
        return [op]
    return [replace(op, kind="efficient", beside=statistics(query))]


def with_random_state(op: Op, *, narrow: bool) -> list[Op]:
    """Two numbers, also where nothing is dropped.

    Source: flash-attn 2, mha_fwd in csrc/flash_attn/flash_api.cpp, `rng_state`, which FlashAttnFunc.forward saves."""
    state = Tensor(axes(Dim.of("two", 2)), "seed")
    return [replace(op, beside={**op.beside, "state": state})]
