"""How a model is trained: optimizer, checkpointing, adapters, and whose training code."""

from __future__ import annotations

from dataclasses import dataclass

from archcalc.run.option_words import ALLOCATORS, BYTES, COMPILE, OF_TRAINING, RECOMPUTE, TRAIN
from archcalc.spec.option import option
from archcalc.spec.option_checks import names, size, word


@dataclass(frozen=True)
class TrainingOptions:
    """Options of training."""

    optimizer: str | None = option(
        "Optimizer: sgd, momentum, adam, adamw, adamw-fused, adamw-for-loop, adam8bit, adafactor, lion, muon.",
        word,
        metavar="NAME",
        modes=TRAIN,
        commands=BYTES,
        also=("optim",),
    )
    accumulate: int | None = option(
        "Gradient accumulation: micro-batches per optimizer step.",
        size,
        metavar="N",
        modes=TRAIN,
        commands=BYTES,
        also=("gradient_accumulation_steps", "grad_accumulation_steps"),
    )
    recompute: str | None = option(
        "Activation checkpointing: none, attention only, torchtitan's op-level policy, or whole blocks.",
        word,
        choices=tuple(RECOMPUTE),
        modes=TRAIN,
        also=("activation_checkpointing", "recompute_granularity"),
    )
    loss_chunks: int | None = option(
        "Compute logits and loss in this many chunks.",
        size,
        metavar="N",
        modes=TRAIN,
        commands=BYTES,
        also=("num_output_chunks",),
    )
    freeze: tuple[str, ...] | None = option(
        "Freeze this layer and train the others: embedding, attention.q, … Repeatable.",
        names,
        metavar="LAYER",
        modes=TRAIN,
        of_params=True,
        repeatable=True,
    )
    lora: int | None = option(
        "LoRA: train only adapters of this rank. Inference: hold adapters of this rank beside the weights.",
        size,
        metavar="RANK",
        of_params=True,
        also=("lora_rank", "lora_r", "max_lora_rank"),
    )
    lora_targets: tuple[str, ...] | None = option(
        'Linear layers to adapt (default q,v; "all" for every linear layer, the default of inference).',
        names,
        metavar="LAYERS",
        of_params=True,
        also=("target_modules", "lora_target_modules"),
    )
    compile: str | None = option(
        "Assume torch.compile on each block, on blocks and loss, or on what the training code compiles.",
        word,
        choices=COMPILE,
        **OF_TRAINING,
    )

    code: str | None = option(
        "Training code whose habits are assumed: transformers, torchtitan, torchtune, litgpt, megatron or plain; "
        "of a date, torchtitan@2024-12.",
        word,
        metavar="NAME[@DATE]",
        **OF_TRAINING,
        of_params=True,
    )
    habit: tuple[str, ...] | None = option(
        "Another choice that the training code leaves, such as loss=in_place_fp32. Repeatable.",
        names,
        metavar="NAME=CHOICE",
        **OF_TRAINING,
        repeatable=True,
    )
    allocator: str | None = option(
        "PyTorch's CUDA allocator: its default segments, or expandable segments.",
        word,
        choices=ALLOCATORS,
        **OF_TRAINING,
    )
