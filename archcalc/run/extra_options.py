"""What stands beside the model on its GPUs: a draft model, adapters, a reference model, a rollout engine."""

from __future__ import annotations

from dataclasses import dataclass

from archcalc.run.option_words import BYTES, INFERENCE, METHODS, OF_TRAINING, REFERENCES, ROLLOUTS
from archcalc.spec.option import option
from archcalc.spec.option_checks import memory_size, size, text, word


@dataclass(frozen=True)
class ExtraOptions:
    """Options of serving and of preference and reinforcement learning."""

    draft: str | None = option(
        "Speculative decoding: a draft model on the same GPUs (preset, config or path), or mtp for the model's own "
        "multi-token prediction blocks.",
        text,
        metavar="MODEL",
        modes=INFERENCE,
        commands=BYTES,
        also=("speculative_model", "model_draft"),
    )
    adapters: int | None = option(
        "LoRA adapters served at once, each in a slot of rank --lora, as vLLM allocates them.",
        size,
        metavar="N",
        modes=INFERENCE,
        commands=BYTES,
        also=("max_loras",),
    )
    shared_prefix: int | None = option(
        "Prefix sharing: first tokens of the context that all sequences have in common, cached once.",
        size,
        metavar="SIZE",
        modes=INFERENCE,
        commands=BYTES,
    )
    method: str | None = option(
        "Training method: supervised fine-tuning, DPO on pairs of sequences, or GRPO on generated ones.",
        word,
        choices=METHODS,
        **OF_TRAINING,
    )
    reference: str | None = option(
        "DPO, GRPO: a frozen reference model on the same GPUs, or none.", word, choices=REFERENCES, **OF_TRAINING
    )
    rollout: str | None = option(
        "GRPO: who generates: the policy itself, or an inference engine on the same GPUs, there but asleep while "
        "training, or on other GPUs.",
        word,
        choices=ROLLOUTS,
        **OF_TRAINING,
    )
    rollout_memory: int | None = option(
        "GRPO: what the inference engine takes on its GPU, weights and KV cache, such as 24GiB.",
        memory_size,
        metavar="BYTES",
        **OF_TRAINING,
    )
