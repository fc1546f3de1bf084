"""transformers on the meta device as it runs on a CUDA GPU: the kernels it would call, and nothing asked of values.

Some ops are chosen by device before a dispatch mode sees them, and are named here: dropout's kernel, which keeps a mask
of bools; a softmax that widens fp16; the kernels of scaled-dot-product attention. Fused optimizers and products of
experts in other types than bf16 are let onto the meta device.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch.nn import functional

from archcalc.core.errors import InputError
from archcalc.verify.hf.built import needed

aten = torch.ops.aten
META: Any = torch._meta_registrations
FUSED = "fused"  # the name of an attention that transformers asks for no mask, and whose kernel it does not fetch
MAY_BE_LEFT_OUT = ("_ignore_causal_mask_sdpa", "_ignore_bidirectional_mask_sdpa")  # a mask, as its values say
PADDED_TO = 8  # head widths of the flash kernel (pad_last_dim<8> in ATen/native/transformers/attention.cpp)
ALIGNED_TO = 8  # rows of a bias of the memory-efficient kernel, in elements (preprocess_mask in the same file)


@contextmanager
def as_on_a_gpu() -> Iterator[None]:
    """For building as well as for running."""
    masks, models = needed("transformers.masking_utils"), needed("transformers.modeling_utils")
    with ExitStack() as stack:
        stack.enter_context(patch.dict(models.AttentionInterface._global_mapping, {FUSED: fused_attention}))
        for owner, name, instead in (
            (masks, "find_packed_sequence_indices", _nothing),  # values of positions, which show that none are packed
            *((masks, name, _unpadded(getattr(masks, name))) for name in MAY_BE_LEFT_OUT),
            (models.PreTrainedModel, "warn_if_padding_and_no_attention_mask", _nothing),
            (functional, "dropout", _dropout(functional.dropout)),
            (functional, "softmax", _softmax(functional.softmax)),
            (functional, "scaled_dot_product_attention", attention),
            (needed("torch.optim.adam"), "_device_dtype_check_for_fused", _nothing),
            (META, "_meta_grouped_mm_common", _grouped),
        ):
            stack.enter_context(patch.object(owner, name, instead))
        yield


def _grouped(a: Tensor, b: Tensor, *, offs: Tensor | None, out_dtype: torch.dtype | None, **_: Any) -> Tensor:
    """The product for each expert, in any type: CUDA multiplies others than bf16 one expert after the other, into a
    result of the same layout (`_grouped_mm_fallback` in ATen/native/GroupedMMUtils.h); on meta others are refused."""
    made: Tensor = META._create_grouped_mm_output_tensor(a, b, offs, out_dtype)
    return made


def _nothing(*_: Any, **__: Any) -> None:
    """In the place of what asks for values, or for a GPU."""


def _unpadded(otherwise: Any) -> Any:
    """A class may make a mask of padding itself, which hides nothing."""
    return lambda padding_mask=None, *args, **kwargs: otherwise(None, *args, **kwargs)


def _dropout(otherwise: Any) -> Any:
    """CUDA's kernel wherever CUDA takes it (`is_fused_kernel_acceptable` in ATen/native/Dropout.cpp)."""

    def dropout(x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
        if training and 0 < p < 1 and x.numel() and not inplace:
            return torch.native_dropout(x, p, True)[0]
        return otherwise(x, p, training, inplace)

    return dropout


def _softmax(otherwise: Any) -> Any:
    """CUDA's kernel widens fp16, and not bf16, by itself (`softmax` in ATen/native/SoftMax.cpp); a CPU's does not."""

    def softmax(x: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: torch.dtype | None = None) -> Any:
        widens = x.dtype is torch.float16 and dtype is torch.float32 and x.device.type != "cpu"
        if widens and dim is not None:
            return torch._softmax(x, dim, True)
        return otherwise(x, dim, _stacklevel, dtype)

    return softmax


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """The flash kernel, which shares keys among heads itself; the memory-efficient one in fp32, with a mask, or for
    values of another width than keys (`check_flash_attention_datatype`, `check_for_attn_mask` and
    `check_head_dim_size_flash` in ATen/native/transformers/cuda/sdp_utils.cpp)."""
    shares_keys = key.shape[1] != query.shape[1]
    is_narrow = query.dtype is not torch.float32
    if attn_mask is None and key.shape[-1] == value.shape[-1] and (is_narrow or shares_keys):
        return _flash(query, key, value, dropout_p, is_causal, scale)  # in fp32 another kernel, of the same tensors
    bias = None if attn_mask is None else _bias(attn_mask, query, key)
    trains = torch.is_grad_enabled() and any(one.requires_grad for one in (query, key, value))
    kernel = aten._scaled_dot_product_efficient_attention
    found: Tensor = kernel(query, key, value, bias, trains, dropout_p, is_causal, scale=scale)[0]
    return found


def _flash(query: Tensor, key: Tensor, value: Tensor, dropout: float, causal: bool, scale: float | None) -> Tensor:
    width = query.shape[-1]
    query, key, value = map(_padded, (query, key, value))
    scale = scale or width**-0.5
    found: Tensor = aten._scaled_dot_product_flash_attention(query, key, value, dropout, causal, False, scale=scale)[0]
    return found[..., :width]


def _padded(tensor: Tensor) -> Tensor:
    missing = -tensor.shape[-1] % PADDED_TO
    return functional.pad(tensor, (0, missing)) if missing else tensor


class FlashAttention(torch.autograd.Function):
    """The attention kernel of the flash-attn package, as far as memory goes: which tensors it makes and saves.

    Of queries, keys and values by head, whose width the kernel knows. It keeps an fp32 number for each row, and the
    state of its random numbers even if nothing is dropped.

    Source: flash-attn 2, FlashAttnFunc in flash_attn/flash_attn_interface.py and mha_fwd in
    csrc/flash_attn/flash_api.cpp."""

    @staticmethod
    def forward(context: Any, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        found = torch.empty_like(query)
        statistics = query.new_empty(query.shape[:-1], dtype=torch.float32)
        state = query.new_empty(2, dtype=torch.int64)
        context.save_for_backward(query, key, value, found, statistics, state)
        return found

    @staticmethod
    def backward(context: Any, *_: Tensor) -> tuple[Tensor, ...]:
        """The gradients of all three, whoever wants them."""
        return tuple(map(torch.empty_like, context.saved_tensors[:3]))


def fused_attention(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    s_aux: Tensor | None = None,
    **_: Any,
) -> tuple[Tensor, None]:
    """The kernel of the flash-attn package, which caps scores and looks through windows by itself: for classes that do
    without scaled_dot_product_attention."""
    if s_aux is not None:
        raise InputError("no kernel of PyTorch's has attention sinks", "use eager attention")
    found: Tensor = FlashAttention.apply(*map(_padded, (query, key, value)))  # type: ignore[no-untyped-call]
    return found[..., : query.shape[-1]].transpose(1, 2), None


def _bias(mask: Tensor, query: Tensor, key: Tensor) -> Tensor:
    """0 where a mask lets through and -inf elsewhere, for every head, with rows that begin aligned."""
    if mask.dtype == torch.bool:
        mask = torch.where(mask, 0.0, torch.scalar_tensor(float("-inf"), dtype=query.dtype, device=mask.device))
    *outer, inner = mask.stride()
    if inner != 1 or any(stride % ALIGNED_TO for stride in outer):
        width = mask.shape[-1]
        mask = functional.pad(mask, (0, ALIGNED_TO - width % ALIGNED_TO))[..., :width]
    return mask.expand(*query.shape[:3], key.shape[2])
