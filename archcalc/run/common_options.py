"""What every answer depends on: mode, sizes, number formats, the attention kernel."""

from __future__ import annotations

from dataclasses import dataclass, field

from archcalc.run.option_words import ATTENTION, BYTES, CAUSAL, FLOPS, MODES, ONE_DEVICE, TRAIN
from archcalc.spec.option import option
from archcalc.spec.option_checks import memory_size, size, text, word
from archcalc.spec.option_checks import precision as precision_name
from archcalc.spec.sizes import Sizes


@dataclass(frozen=True)
class CommonOptions:
    """Options of training and of inference."""

    mode: str = option(
        "Training step, forward pass, reading a prompt and keeping its KV cache (infer, prefill), or decoding a token.",
        word,
        choices=MODES,
    )
    sizes: Sizes = field(default_factory=Sizes)
    precision: str | None = option(
        "Training: fp32, mixed, autocast, master, bf16, fp8, fp8-gathered. Inference: activation dtype; also the "
        "weight dtype unless --weights is given.",
        precision_name,
        metavar="NAME",
        also=("dtype", "torch_dtype"),
    )
    weights: str | None = option(
        "Weight format: bf16, fp8, int8, int4, nf4, q4_k_m, … Default: as stored.",
        word,
        metavar="FORMAT",
        also=("quantization", "weight_dtype"),
    )
    attention: str | None = option(
        "Attention: eager stores scores; flash is a kernel that stores none (in fp32 PyTorch's memory-efficient one).",
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
    gpu: str | None = option(
        "The device it runs on, such as rtx-4090 or 2xh100: what people run there is then assumed.",
        text,
        metavar="NAME",
        commands=ONE_DEVICE,
    )
    overhead: int | None = option(
        "Runtime overhead (CUDA context, libraries), such as 1GiB; 0 for none.",
        memory_size,
        metavar="BYTES",
        commands=BYTES,
    )
