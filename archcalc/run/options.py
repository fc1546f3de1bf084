"""Every option of `archcalc flops`, `memory` and `fit`, declared once and checked in one place.

    Options.of("memory", {"mode": "train", "batch": "8", "tensor_parallel_size": 2})

The command line generates its options from these fields (`archcalc.cli.declared`), Python's keywords are the same by
test (`archcalc.run.keywords`). This file is loaded to print help, so it imports next to nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from archcalc.core.errors import InputError, did_you_mean
from archcalc.spec.option import Option, declared, flag_of, option
from archcalc.spec.option_checks import chosen, flag, memory_size, names, number, size, word
from archcalc.spec.option_checks import precision as precision_name
from archcalc.spec.sizes import Sizes

if TYPE_CHECKING:
    from archcalc.core.mesh import Plan

MODES = ("train", "infer", "prefill", "decode")
TRAIN, INFERENCE = ("train",), ("infer", "prefill", "decode")
USUAL_MODE = {"flops": "train", "memory": "infer", "fit": "infer"}  # by command
FLOPS, BYTES = ("flops",), ("memory", "fit")
OF_TRAINING: dict[str, Any] = {"modes": TRAIN, "commands": BYTES}
ATTENTION = ("eager", "flash")
CAUSAL = ("full", "half")
RECOMPUTE = {"none": "none", "selective": "core", "ops": "ops", "full": "block"}
COMPILE = ("none", "blocks", "all", "code")
RESHARD = ("always", "never")
ALLOCATORS = ("plain", "expandable")
KV_RULES = {
    "window": "exactly the window",
    "window-1": "the window without the current token",
    "window+batch": "the window plus one batch, rounded up to pages of 256",
    "full": "the whole context length",
    "vllm": "blocks of a pool that groups of layers share",
}


@dataclass(frozen=True)
class Options:
    """The options as given; None if not given."""

    mode: str = option(
        "Training step, reading a prompt and keeping its KV cache (infer or prefill), or decoding a token.",
        word,
        choices=MODES,
    )
    sizes: Sizes = field(default_factory=Sizes)
    precision: str | None = option(
        "Training: fp32, mixed, autocast, bf16, fp8, fp8-gathered. Inference: activation dtype; also the weight dtype "
        "unless --weights is given.",
        precision_name,
        metavar="NAME",
        also=("dtype", "torch_dtype"),
    )
    weights: str | None = option(
        "Weight format: bf16, fp8, int8, int4, nf4, q4_k_m, … Default: as stored; in flops as --precision.",
        word,
        metavar="FORMAT",
        also=("quantization", "weight_dtype"),
    )
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
    attention: str | None = option(
        "Attention kernel: scores stored in memory, or flash attention, which stores none.",
        word,
        choices=ATTENTION,
        also=("attn_implementation", "attention_backend"),
    )
    causal: str | None = option(
        "Under a causal mask, count all attention scores, or only the unmasked ones.",
        word,
        choices=CAUSAL,
        commands=FLOPS,
    )
    tokens: int | None = option(
        "FLOPs of training on this many tokens, beside the 6ND rule.",
        size,
        metavar="SIZE",
        modes=TRAIN,
        commands=FLOPS,
        also=("train_tokens",),
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
        repeatable=True,
    )
    lora: int | None = option(
        "LoRA: train only adapters of this rank.",
        size,
        metavar="RANK",
        modes=TRAIN,
        also=("lora_rank", "lora_r"),
    )
    lora_targets: tuple[str, ...] | None = option(
        'Linear layers to adapt (default q,v; "all" for every linear layer).',
        names,
        metavar="LAYERS",
        modes=TRAIN,
        also=("target_modules", "lora_target_modules"),
    )
    kv_dtype: str | None = option(
        "KV cache format: bf16, fp8, q8_0, …",
        word,
        metavar="FORMAT",
        modes=INFERENCE,
        also=("kv_cache_dtype", "cache_type"),
    )
    kv_rule: str | None = option(
        "KV cache of sliding-window layers: window, window-1, window+batch, full; vllm: of all layers, in blocks.",
        word,
        choices=tuple(KV_RULES),
        metavar="RULE",
        modes=INFERENCE,
        commands=BYTES,
    )
    state_dtype: str | None = option(
        "Format of recurrent states (Mamba, delta nets): bf16, fp32, …",
        word,
        metavar="FORMAT",
        modes=INFERENCE,
        also=("mamba_cache_dtype", "mamba_ssm_cache_dtype"),
    )
    prefill: int | None = option(
        "Chunked prefill: read the prompt in chunks of this many tokens.",
        size,
        metavar="SIZE",
        modes=("infer", "prefill"),
        commands=BYTES,
        also=("prefill_chunk_size", "max_num_batched_tokens", "ubatch_size"),
    )
    overhead: int | None = option(
        "Runtime overhead (CUDA context, libraries), such as 1GiB; 0 for none.",
        memory_size,
        metavar="BYTES",
        commands=BYTES,
    )
    tp: int | None = option(
        "Tensor parallelism: GPUs each layer is split over.",
        size,
        metavar="N",
        also=("tensor_parallel_size", "tensor_model_parallel_size", "tensor_parallel_degree"),
    )
    dp: int | None = option(
        "Data parallelism: replicas, each with its own batch.",
        size,
        metavar="N",
        also=("data_parallel_size", "data_parallel_degree"),
    )
    zero: int | None = option(
        "ZeRO stage: what data-parallel GPUs shard (3: as FSDP does).",
        number,
        metavar="0|1|2|3",
        modes=TRAIN,
        commands=BYTES,
        also=("zero_stage",),
    )
    sp: bool | None = option(
        "Sequence parallelism: also shard norms and residuals along the sequence (needs --tp).",
        flag,
        modes=TRAIN,
        also=("sequence_parallel",),
    )
    cp: int | None = option(
        "Context parallelism: GPUs each sequence is split over.",
        size,
        metavar="N",
        modes=TRAIN,
        also=("context_parallel_size", "context_parallel_degree"),
    )
    pp: int | None = option(
        "Pipeline parallelism: stages that hold some of the layers each; the one with the most is counted.",
        size,
        metavar="N",
        **OF_TRAINING,
        also=("pipeline_parallel_size", "pipeline_model_parallel_size", "pipeline_parallel_degree"),
    )
    ep: int | None = option(
        "Expert parallelism: data-parallel GPUs that the experts are dealt out to.",
        size,
        metavar="N",
        **OF_TRAINING,
        also=("expert_parallel_size", "expert_model_parallel_size", "expert_parallel_degree"),
    )
    reshard_after_forward: str | None = option(
        "FSDP: free gathered weights after each block's forward pass, or keep them for the backward pass.",
        word,
        choices=RESHARD,
        **OF_TRAINING,
    )
    code: str | None = option(
        "Training code whose habits are assumed: transformers, torchtitan, torchtune, litgpt, megatron or plain; "
        "of a date, torchtitan@2024-12.",
        word,
        metavar="NAME[@DATE]",
        **OF_TRAINING,
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
    compile: str | None = option(
        "Assume torch.compile on each block, on blocks and loss, or on what the training code compiles.",
        word,
        choices=COMPILE,
        **OF_TRAINING,
    )

    @classmethod
    def of(cls, command: str, given: Mapping[str, Any], besides: Iterable[str] = ()) -> Options:
        """The options of a command, each value checked, then all of them against each other. `besides` are further
        keywords of the command, so that a misspelt one gets a suggestion."""
        known = dict(options_of(command))
        values = dict(_values(given, known, besides))
        mode = values.pop("mode", USUAL_MODE[command])
        sizes = Sizes(**{name: values.pop(name) for name, _ in declared(Sizes) if name in values})
        made = cls(mode=mode, sizes=sizes, **values)
        made.check()
        return made

    @cached_property
    def given(self) -> dict[str, Any]:
        """The options that were given, sizes among them, by name."""
        own = {name: getattr(self, name) for name, _ in declared(Options)}
        return {name: value for name, value in own.items() if value is not None} | self.sizes.given()

    @property
    def trains(self) -> bool:
        return self.mode == "train"

    @property
    def plan(self) -> Plan:
        """How the model is laid out over GPUs."""
        from archcalc.core.mesh import plan
        from archcalc.run.code.zero import stage

        tp, dp, cp, pp, ep = (size or 1 for size in (self.tp, self.dp, self.cp, self.pp, self.ep))
        return plan(tp, dp, stage(self.zero or 0, dp * cp, self.code), bool(self.sp), cp, pp, ep)

    def changed(self, **values: Any) -> Options:
        """A copy with some options changed, checked again."""
        made = replace(self, **values)
        made.check()
        return made

    def check(self) -> None:
        """Refuse options that have no effect in this mode or contradict another option."""
        for name, one in (*declared(Options), *declared(Sizes)):
            if name in self.given and one.modes and self.mode not in one.modes and self.given[name] not in (0, "none"):
                raise _without_effect(name, one, self.mode)
        if self.lora and self.freeze:
            raise InputError(
                "with --lora everything but the adapters is frozen already", "leave --freeze out", field="--freeze"
            )
        if self.reshard_after_forward and self.zero != 3:
            hint = "add --zero 3, or leave --reshard-after-forward out"
            raise InputError("only ZeRO-3 gathers weights", hint, field="--reshard-after-forward")
        if self.lora_targets and not self.lora:
            raise InputError("needs --lora RANK", "add --lora 16", field="--lora-targets")
        if self.trains and self.weights and not self.lora:
            hint = "add --lora 16 (QLoRA), or leave --weights out"
            raise InputError("quantised weights cannot be trained", hint, field="--weights")
        _ = self.plan  # for its errors


def options_of(command: str) -> Iterator[tuple[str, Option]]:
    """The options that a command takes, in the order of its help."""
    own = dict(declared(Options))
    ordered = {"mode": own.pop("mode"), **dict(declared(Sizes)), **own}
    return ((name, one) for name, one in ordered.items() if not one.commands or command in one.commands)


def other_names(options: Iterable[tuple[str, Option]]) -> dict[str, str]:
    """The names that other tools use for an option, and its name here."""
    return {other: name for name, one in options for other in one.also}


def _values(given: Mapping[str, Any], known: Mapping[str, Option], besides: Iterable[str]) -> Iterator[tuple[str, Any]]:
    others, seen = other_names(known.items()), dict[str, str]()
    for written, value in given.items():
        name = others.get(written, written)
        if name not in known:
            raise InputError(f"no option called {written}", did_you_mean(written, [*known, *besides]))
        if value is None:
            continue
        if name in seen:
            raise InputError(f"{seen[name]} and {written} are one option, and both are given", field=flag_of(name))
        seen[name] = written
        yield from _checked(name, value, known[name])


def _checked(name: str, value: Any, one: Option) -> Iterator[tuple[str, Any]]:
    """Whether the option is given: None and an empty list of names are not."""
    found = one.check(value, flag_of(name))
    if found is not None:
        yield name, chosen(found, one.choices, flag_of(name)) if one.choices else found


def _without_effect(name: str, one: Option, mode: str) -> InputError:
    option = flag_of(name)
    hint = f"add --mode {one.modes[0]}, or leave {option} out"
    return InputError(f"has no effect with --mode {mode}", hint, field=option)
