"""The attention kernel of the flash-attn package, as far as memory goes: which tensors it makes and saves.

Source: flash-attn 2, FlashAttnFunc in flash_attn/flash_attn_interface.py and mha_fwd in csrc/flash_attn/flash_api.cpp.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class FlashAttention(torch.autograd.Function):
    """Of queries, keys and values by head, whose width the kernel knows. It keeps an fp32 number for each row, and the
    state of its random numbers even if nothing is dropped."""

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
