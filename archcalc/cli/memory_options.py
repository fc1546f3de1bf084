"""Options that say how a model is trained, kept and spread over GPUs: those of `memory`, and of what builds on it."""

from __future__ import annotations

from typing import Annotated

import typer

from archcalc.cli.options import size
from archcalc.errors import InputError
from archcalc.sizes import parse_bytes

Mode = Annotated[str, typer.Option(metavar="infer|train", help="Answering, or a training step.")]
Precision = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Training: fp32, mixed, autocast, bf16, fp8. Inference: of activations, such as bf16."
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(metavar="FORMAT", help="Format of the weights: bf16, fp8, int8, int4, nf4, nf4_dq, q4_k_m, q8_0, …"),
]
OptimizerName = Annotated[
    str | None,
    typer.Option(
        "--optimizer",
        metavar="NAME",
        help="One of sgd, momentum, adam, adamw, adamw-fused, adam8bit, adafactor, lion, muon.",
    ),
]
Accumulate = Annotated[
    int | None,
    typer.Option(parser=size, metavar="N", help="Micro-batches whose gradients are added up before a step."),
]
LossChunks = Annotated[
    int | None, typer.Option(parser=size, metavar="N", help="Compute logits and loss in so many pieces.")
]
KvDtype = Annotated[
    str | None, typer.Option("--kv-dtype", metavar="FORMAT", help="Format of the KV cache: bf16, fp8, q8_0, …")
]
KvRule = Annotated[
    str | None,
    typer.Option(
        "--kv-rule", metavar="RULE", help="What a sliding window keeps: window, window-1, window+batch or full."
    ),
]
Prefill = Annotated[
    int | None, typer.Option(parser=size, metavar="SIZE", help="Read the prompt in pieces of so many tokens.")
]
Overhead = Annotated[
    str | None,
    typer.Option(metavar="BYTES", help="CUDA context and the like, such as 1GiB; 0 leaves it out."),
]
Tp = Annotated[int | None, typer.Option("--tp", parser=size, metavar="N", help="GPUs that share every layer.")]
Dp = Annotated[
    int | None, typer.Option("--dp", parser=size, metavar="N", help="Groups of GPUs, each with a batch of its own.")
]
Zero = Annotated[
    int | None, typer.Option("--zero", metavar="0|1|2|3", help="What data-parallel GPUs divide, as in the ZeRO paper.")
]


def as_bytes(text: str | None, option: str) -> int | None:
    """`1GiB`, `500MB` or a number of bytes."""
    if text is None:
        return None
    try:
        return parse_bytes(text)
    except ValueError as reason:
        raise InputError(str(reason), "write 1GiB, 500MB or 0", field=option) from None
