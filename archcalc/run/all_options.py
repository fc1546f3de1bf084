"""Every option of a run, declared once: what `archcalc flops`, `memory`, `fit` and `plot` take, and Python's keywords.

Help lists them in this order, by group. This file is loaded to print help, so it imports next to nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from archcalc.run import option_words as words
from archcalc.run.base_options import BaseOptions
from archcalc.run.commands import BYTES, CAPACITY, PARAMETERS
from archcalc.run.option_values import cache_formats, filed, parts, ram
from archcalc.run.option_words import INFERENCE, TRAIN
from archcalc.spec.encoders import limits
from archcalc.spec.option import RUN, declared, option
from archcalc.spec.option_checks import flag, fraction, memory_size, names, number, size, text, word

training = partial(option, group="training", modes=TRAIN)
training_bytes = partial(training, about=(BYTES,))
trained = partial(option, group="training", about=(RUN, PARAMETERS))  # which parameters there are, or are trained
serving = partial(option, group="serving", modes=INFERENCE)
serving_bytes = partial(serving, about=(BYTES,))
parallel = partial(option, group="parallel")
offloading = partial(option, group="offload", modes=INFERENCE, about=(BYTES,))
method_option = partial(option, group="methods", modes=TRAIN, about=(BYTES,))


@dataclass(frozen=True, init=False, repr=False, eq=False)  # which `Options` has; making them takes time
class AllOptions(BaseOptions):
    """None if not given."""

    optimizer: str | None = training_bytes(
        "Optimizer, such as adamw or adam8bit. One of {values}.",
        word,
        metavar="NAME",
        values=partial(filed, "optimizers"),
        also=("optim",),
        example="sgd",
        first=True,
    )
    accumulate: int | None = training_bytes(
        "Gradient accumulation: micro-batches in a step.",
        size,
        also=("gradient_accumulation_steps", "grad_accumulation_steps"),
    )
    recompute: str | None = training(
        "Activation checkpointing. selective: attention only; ops: torchtitan's op-level policy; full: whole blocks.",
        word,
        choices=tuple(words.RECOMPUTE),
        also=("activation_checkpointing", "recompute_granularity"),
        first=True,
    )
    loss_chunks: int | None = training_bytes(
        "Compute logits and loss in this many chunks.", size, also=("num_output_chunks",)
    )
    freeze: tuple[str, ...] | None = trained(
        "Freeze this layer and train the others: embedding, attention.q, vision, … With --lora: no adapters there.",
        names,
        metavar="LAYER",
        modes=TRAIN,
        repeatable=True,
        example="embedding",
    )
    lora: int | None = trained(
        "LoRA: train only adapters of this rank. Inference: hold adapters of this rank beside the weights.",
        size,
        metavar="RANK",
        also=("lora_rank", "lora_r", "max_lora_rank"),
        first=True,
    )
    lora_targets: tuple[str, ...] | None = trained(
        'Linear layers to adapt (default q,v; "all" for every linear layer, the default of inference).',
        names,
        metavar="LAYERS",
        also=("target_modules", "lora_target_modules"),
        example="q",
    )
    compile: str | None = training_bytes(
        "Assume torch.compile on each block, on blocks and loss, or on what the training code compiles.",
        word,
        choices=words.COMPILE,
    )
    code: str | None = training(
        "Training code whose defaults are assumed: {values}; of a date, torchtitan@2024-12.",
        word,
        metavar="NAME[@DATE]",
        values=partial(filed, "code"),
        about=(BYTES, PARAMETERS),
        example="plain",
    )
    code_option: tuple[str, ...] | None = training_bytes(
        "An option of the training code itself, such as loss=in_place_fp32. Repeatable.",
        names,
        metavar="NAME=CHOICE",
        repeatable=True,
        also=("habit",),
        example="loss=fp32",
    )
    allocator: str | None = training_bytes(
        "PyTorch's CUDA allocator: its default segments, or expandable segments.", word, choices=words.ALLOCATORS
    )

    kv_dtype: str | None = serving(
        "KV cache format, such as fp8 or q8_0. q8_0,q4_0: of keys and of values.",
        word,
        metavar="FORMAT",
        values=cache_formats,
        also=("kv_cache_dtype", "cache_type"),
        first=True,
    )
    cache_type_k: str | None = serving(
        "Format of keys in the KV cache, where values have another: q8_0, f16, …",
        word,
        metavar="FORMAT",
        one_dash=("-ctk",),
    )
    cache_type_v: str | None = serving(
        "Format of values in the KV cache, where keys have another.", word, metavar="FORMAT", one_dash=("-ctv",)
    )
    kv_rule: str | None = serving_bytes(
        "KV cache of sliding-window layers: window, window-1, window+batch, full, sglang; vllm: all layers, in blocks.",
        word,
        choices=tuple(words.KV_RULES),
        metavar="RULE",
        unset="window",
    )
    state_dtype: str | None = serving(
        "Format of recurrent states (Mamba, delta nets): bf16, fp32, …",
        word,
        metavar="FORMAT",
        also=("mamba_cache_dtype", "mamba_ssm_cache_dtype"),
    )
    prefill: int | None = serving_bytes(
        "Chunked prefill: read the prompt in chunks of this many tokens.",
        size,
        metavar="SIZE",
        modes=("infer", "prefill"),
        also=("prefill_chunk_size", "max_num_batched_tokens", "ubatch_size", "chunked_prefill_size"),
    )
    engine: str | None = serving_bytes(
        "Inference engine, such as vllm or llama.cpp. One of {values}; of a version, vllm@0.11.",
        word,
        metavar="NAME[@VERSION]",
        values=partial(filed, "engines"),
        example="vllm",
        first=True,
    )
    gpu_memory_utilization: float | None = serving(
        "Share of a GPU's memory that a serving engine takes: 0.9, or 90%.",
        fraction,
        metavar="SHARE",
        about=(CAPACITY,),
        also=(
            "mem_fraction_static",
            "free_gpu_memory_fraction",
            "kv_cache_free_gpu_memory_fraction",
            "cache_max_entry_count",
        ),
        example="0.9",
    )
    max_num_seqs: int | None = serving_bytes(
        "Requests that a serving engine computes at once, at most.",
        size,
        also=("max_running_requests", "max_batch_size"),
    )
    limit_mm_per_prompt: tuple[tuple[str, int], ...] | None = serving_bytes(
        "Inputs of a kind that a serving engine takes in one request; 0 for all that a tower reads: it is not loaded.",
        limits,
        metavar="KIND=N",
        also=("limit_mm_data_per_request",),
        example="image=4,video=0",
    )
    language_model_only: bool | None = serving_bytes(
        "Serve the language model of a multimodal model alone: its towers are not loaded.",
        flag,
        also=("no_mmproj",),
    )
    enforce_eager: bool | None = serving_bytes(
        "Serving engine without CUDA graphs.", flag, also=("disable_cuda_graph",)
    )

    tp: int | None = parallel(
        "Tensor parallelism: GPUs each layer is split over.",
        size,
        also=("tensor_parallel_size", "tensor_model_parallel_size", "tensor_parallel_degree"),
        first=True,
    )
    sp: bool | None = parallel(
        "Sequence parallelism: also shard norms and residuals along the sequence (needs --tp).",
        flag,
        modes=TRAIN,
        also=("sequence_parallel",),
    )
    dp: int | None = parallel(
        "Data parallelism: replicas, each with its own batch.",
        size,
        also=("data_parallel_size", "data_parallel_degree"),
        first=True,
    )
    zero: int | None = parallel(
        "ZeRO stage: what data-parallel GPUs shard. 3: as FSDP does.",
        number,
        metavar="0|1|2|3",
        values=lambda: ("0", "1", "2", "3"),
        modes=TRAIN,
        about=(BYTES,),
        also=("zero_stage",),
        unset="0",
        first=True,
    )
    reshard_after_forward: str | None = parallel(
        "FSDP: free gathered weights after each block's forward pass, or keep them for the backward pass.",
        word,
        choices=words.RESHARD,
        modes=TRAIN,
        about=(BYTES,),
    )
    cp: int | None = parallel(
        "Context parallelism: GPUs each sequence is split over.",
        size,
        modes=TRAIN,
        also=("context_parallel_size", "context_parallel_degree"),
    )
    pp: int | None = parallel(
        "Pipeline parallelism: stages that hold some of the layers each; the one with the most is counted.",
        size,
        modes=TRAIN,
        about=(BYTES,),
        also=("pipeline_parallel_size", "pipeline_model_parallel_size", "pipeline_parallel_degree"),
    )
    ep: int | None = parallel(
        "Expert parallelism: data-parallel GPUs that the experts are dealt out to.",
        size,
        modes=TRAIN,
        about=(BYTES,),
        also=("expert_parallel_size", "expert_model_parallel_size", "expert_parallel_degree"),
    )

    draft: str | None = serving_bytes(
        "Speculative decoding: a draft model on the same GPUs (preset, config or path), or mtp for the model's own "
        "multi-token prediction blocks.",
        text,
        metavar="MODEL",
        also=("speculative_model", "model_draft"),
        example="gpt2",
    )
    adapters: int | None = serving_bytes(
        "LoRA adapters served at once, each in a slot of rank --lora, as vLLM allocates them.",
        size,
        also=("max_loras",),
    )
    shared_prefix: int | None = serving_bytes(
        "Prefix sharing: first tokens of the context that all sequences have in common, cached once.",
        size,
        metavar="SIZE",
    )
    method: str | None = method_option(
        "Training method: supervised fine-tuning, DPO on pairs of sequences, or GRPO on generated ones.",
        word,
        choices=words.METHODS,
    )
    reference: str | None = method_option(
        "DPO, GRPO: a frozen reference model on the same GPUs, or none.", word, choices=words.REFERENCES
    )
    rollout: str | None = method_option(
        "GRPO: who generates: the policy itself, or an inference engine on the same GPUs, there but asleep while "
        "training, or on other GPUs.",
        word,
        choices=words.ROLLOUTS,
    )
    rollout_memory: int | None = method_option(
        "GRPO: what the inference engine takes on its GPU, weights and KV cache, such as 24GiB.",
        memory_size,
        example="24GiB",
    )

    offload: tuple[str, ...] | None = offloading(
        "Keep these in host RAM, such as experts. Training: optimizer, params, activations, embedding. Inference: "
        "experts, embedding.",
        parts,
        metavar="PARTS",
        modes=(),
        example="embedding",
        first=True,
    )
    ngl: int | None = offloading(
        "Keep only the last N layers on the GPU. The output layer is one of them; the others are in host RAM.",
        number,
        also=("n_gpu_layers", "gpu_layers"),
        one_dash=("-ngl",),
        first=True,
    )
    cpu_moe: bool | None = offloading(
        "Keep the experts of all layers in host RAM, as --offload experts does.", flag, one_dash=("-cmoe",)
    )
    n_cpu_moe: int | None = offloading(
        "Keep the experts of the first N layers in host RAM.", number, one_dash=("-ncmoe",)
    )
    host: int | None = offloading(
        "Host RAM that there is, such as 64GB: the model fits if what is offloaded fits there too.",
        ram,
        metavar="SIZE",
        modes=(),
        about=(CAPACITY,),
        example="64GB",
    )

    @cached_property
    def given(self) -> dict[str, Any]:
        """The options that were given, sizes among them, by name."""
        holder: type = type(self)
        own = {name: getattr(self, name) for name, _ in declared(holder)}
        return {name: value for name, value in own.items() if value is not None} | self.sizes.given()
