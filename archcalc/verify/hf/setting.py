"""How a transformers class is trained: sizes, number format, attention, optimizer and adapters."""

from __future__ import annotations

from dataclasses import dataclass

import torch

TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


@dataclass(frozen=True)
class Setting:
    """How a class is trained."""

    batch: int
    seq: int
    target_seq: int = 0  # of a decoder behind an encoder; as long as `seq` if it is not said
    precision: str = "bf16"
    attention: str = "eager"  # or a fused kernel: flash; or the class's own choice: default
    optimizer: str = "adamw-foreach"
    recompute: bool = False
    lora: int = 0  # the rank of peft's adapters
    targets: tuple[str, ...] = ()  # the layers that get them, or peft's choice for the model type
    keep_outputs: bool = False  # a loop with a name for all that the model gives out, not for the loss alone
    memory: int = 0  # the width of encoder states, for a decoder without an encoder
    shape: tuple[int, ...] = ()  # of one input that is no sequence of tokens, where the config does not say it
