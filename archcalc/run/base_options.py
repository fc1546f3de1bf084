"""The options of every run, whatever its mode: sizes, precision, formats, the device, what a run took."""

from __future__ import annotations

from dataclasses import dataclass, field

from archcalc.core.precision import SPELLINGS
from archcalc.run import option_words as words
from archcalc.run.commands import BYTES, DEVICE, MEASURED, WORK
from archcalc.run.option_values import measured as measured_size
from archcalc.run.option_values import precisions, weight_formats
from archcalc.run.option_words import TRAIN
from archcalc.spec.option import option
from archcalc.spec.option_checks import memory_size, size, text, word
from archcalc.spec.sizes import Sizes


@dataclass(frozen=True, init=False, repr=False, eq=False)  # as `AllOptions`
class BaseOptions:
    """None if not given."""

    mode: str = option(
        "What runs. train: a training step; forward: a forward pass; infer, prefill: reading a prompt and keeping its "
        "KV cache; decode: one more token.",
        word,
        choices=words.MODES,
        first=True,
    )
    sizes: Sizes = field(default_factory=Sizes)
    gpu: str | None = option(
        "The device it runs on, such as rtx-4090 or 2xh100. What people run there is then assumed; here: this machine.",
        text,
        metavar="NAME",
        about=(DEVICE,),
        example="rtx-4090",
        first=True,
    )
    precision: str | None = option(
        "Precision, such as bf16 or mixed. Training: fp32, bf16, mixed, autocast, master, fp8, fp8-gathered. "
        "Inference: activation dtype; also the weight dtype unless --weights is given.",
        word,
        spellings=SPELLINGS,
        example="bf16",
        metavar="NAME",
        values=precisions,
        also=("dtype", "torch_dtype"),
        first=True,
    )
    weights: str | None = option(
        "Weight format, such as fp8, int4 or q4_k_m. Default: as stored.",
        word,
        metavar="FORMAT",
        values=weight_formats,
        also=("quantization", "weight_dtype"),
        example="int4",
        unset="as stored",
        first=True,
    )
    attention: str | None = option(
        "Attention: eager stores scores; flash is a kernel that stores none (in fp32 PyTorch's memory-efficient one).",
        word,
        choices=words.ATTENTION,
        also=("attn_implementation", "attention_backend"),
    )
    causal: str | None = option(
        "Under a causal mask, count all attention scores, or only the unmasked ones.",
        word,
        choices=words.CAUSAL,
        about=(WORK,),
        unset="full",
    )
    tokens: int | None = option(
        "FLOPs of training on this many tokens, beside the 6ND rule.",
        size,
        metavar="SIZE",
        modes=TRAIN,
        about=(WORK,),
        also=("train_tokens",),
    )
    overhead: int | None = option(
        "Runtime overhead (CUDA context, libraries), such as 1GiB; 0 for none.", memory_size, about=(BYTES,)
    )
    measured: tuple[str, int] | None = option(
        "What your run took on a GPU, such as 21.3GiB by nvidia-smi, or PyTorch's own counts: allocated:18.2GiB, "
        "reserved:19GiB. Says what may explain the difference, and adds it to every other size.",
        measured_size,
        metavar="[COUNTER:]BYTES",
        about=(MEASURED,),
        example="allocated:21.3GiB",
    )
