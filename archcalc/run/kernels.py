"""Attention kernels by the names that people know them by."""

from __future__ import annotations

from archcalc.core.precision import BYTES

EAGER, FLASH, EFFICIENT = "eager attention", "flash attention", "memory-efficient attention"

KERNELS = {  # PyTorch's choice: torch.nn.functional.scaled_dot_product_attention, aten's sdp_utils.cpp
    EAGER: "eager attention: scores and probabilities are stored",
    FLASH: "flash attention: no scores are stored",
    EFFICIENT: "memory-efficient attention: PyTorch's fused kernel of fp32, which stores no scores either",
}


def kernel_words(attention: str, activations: str) -> str:
    """FlashAttention computes in 16 bits alone; in fp32 PyTorch takes its memory-efficient kernel."""
    if attention == "eager":
        return EAGER
    return FLASH if BYTES[activations] == 2 else EFFICIENT
