"""Which attention kernel PyTorch takes on a device, and whether it stores the scores."""

from __future__ import annotations

from dataclasses import dataclass

from archcalc.core.precision import BYTES
from archcalc.run.device.capabilities import Capabilities

FLASH, EAGER = "flash", "eager"  # as `--attention` calls kernels that store no scores, and those that do
UNNAMED = "memory-efficient attention"  # where the maker's file names no kernel


@dataclass(frozen=True)
class Kernel:
    """`name` is what `--attention` takes, `title` the kernel's own name, `why` the reason where it is another one than
    FlashAttention."""

    name: str
    title: str
    why: str = ""


def kernel_on(device: Capabilities, activations: str) -> Kernel:
    """FlashAttention for 16-bit numbers where it runs, else another fused kernel, else scores in memory. A device of
    which nothing is known is taken to have them."""
    narrow = BYTES.get(activations, 2) == 2
    if narrow and device.flash != 0:
        return Kernel(FLASH, f"FlashAttention {device.flash}" if device.flash else "FlashAttention")
    reason = f"no FlashAttention runs on {device.words}" if narrow else f"FlashAttention takes no {activations}"
    if device.fused_attention is False:
        return Kernel(EAGER, "attention scores in memory", f"no fused attention kernel runs on {device.words}")
    return Kernel(FLASH, device.kernel or UNNAMED, reason)
