"""What a kernel of attention gives out, and what it keeps besides."""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.ir import Dim, Module, Op, Tensor, axes
from archcalc.run.code.attention_parts import core_of
from archcalc.run.code.efficient import statistics
from archcalc.run.code.layouts import Layouts

FLASH = ("flash", "bent_flash")  # kinds of op that FlashAttention computes


def lower_kernel(attention: Module, *, in_fp32: bool) -> None:
    """`in_fp32`: activations are, and PyTorch's memory-efficient kernel takes them."""
    core = core_of(attention)
    if core:
        layouts = Layouts(attention)
        core.body[:] = [new for item in core.body for new in _lowered(item, layouts, in_fp32=in_fp32)]


def _lowered(item: Op | Module, layouts: Layouts, *, in_fp32: bool) -> list[Op | Module]:
    if isinstance(item, Module) or item.kind not in FLASH:
        return [item]
    if _is_uneven(item) or (in_fp32 and _has_own_keys(item)):
        return [_memory_efficient(item)]
    return _by_position(item, layouts)


def _is_uneven(kernel: Op) -> bool:
    """Values are of another width than keys, which PyTorch's flash kernel does not take."""
    _, key, value, *_ = kernel.inputs
    return key.dims[-1] != value.dims[-1]


def _has_own_keys(kernel: Op) -> bool:
    """Every head: none are shared."""
    query, key, *_ = kernel.inputs
    return query.dims[1] == key.dims[1]


def _memory_efficient(kernel: Op) -> Op:
    """FlashAttention has no fp32. PyTorch's other kernel keeps more statistics, and writes by position.

    Source: PyTorch, aten/src/ATen/native/transformers/cuda/sdp_utils.cpp: check_flash_attention_datatype and
    check_head_dim_size_flash."""
    return replace(kernel, kind="efficient", beside=statistics(kernel.inputs[0]))


def _by_position(kernel: Op, layouts: Layouts) -> list[Op | Module]:
    """The output lies as the queries do, and is copied by position if they lie by head.

    Source: PyTorch, mha_fwd in aten/src/ATen/native/transformers/cuda/flash_attn/flash_api.cpp: empty_like(q);
    transformers, sdpa_attention_forward: `attn_output.transpose(1, 2).contiguous()`."""
    _, head, seq, _ = kernel.output.dims
    if not layouts.lies_by_head(kernel.inputs[0]) or min(int(head.size), int(seq.size)) == 1:
        return [kernel]
    made = Tensor(kernel.output.axes, kernel.output.role)
    return [replace(kernel, output=made), Op("copy", (made,), kernel.output)]


def with_random_state(op: Op, *, narrow: bool) -> list[Op]:
    """Two numbers, also where nothing is dropped.

    Source: flash-attn 2, mha_fwd in csrc/flash_attn/flash_api.cpp, `rng_state`, which FlashAttnFunc.forward saves."""
    state = Tensor(axes(Dim.of("two", 2)), "seed")
    return [replace(op, beside={**op.beside, "state": state})]
