"""Options that say how a model is trained, kept and spread over GPUs: those of `memory`, and of what builds on it.

`asked` lists them once; a command that is decorated with `takes_them` has all of them in the place of its `options`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from archcalc.cli.flops import Attention, Freeze, Lora, LoraTargets, Recompute
from archcalc.cli.options import Batch, Seq, SrcSeq, TgtSeq, size, whole

Mode = Annotated[str, typer.Option(metavar="infer|train", help="Answering, or a training step.")]
Precision = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Training: fp32, mixed, autocast, bf16, fp8. Inference: of activations, and of weights without --weights.",
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        metavar="FORMAT", help="Format of the weights: bf16, fp8, int8, int4, nf4, q4_k_m, …; unsaid: as stored."
    ),
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
    str | None,
    typer.Option("--kv-dtype", metavar="FORMAT", help="Format of cached keys and values: bf16, fp8, q8_0, …"),
]
KvRule = Annotated[
    str | None,
    typer.Option(
        "--kv-rule", metavar="RULE", help="What a sliding window keeps: window, window-1, window+batch or full."
    ),
]
StateDtype = Annotated[
    str | None,
    typer.Option("--state-dtype", metavar="FORMAT", help="Format of recurrent states: bf16, fp32, …"),
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
    int | None,
    typer.Option(
        "--zero", parser=whole, metavar="0|1|2|3", help="What data-parallel GPUs divide, as in the ZeRO paper."
    ),
]
Sp = Annotated[
    bool | None,
    typer.Option("--sp", help="With --tp: divide norms and the residual stream too, along the sequence."),
]
Cp = Annotated[int | None, typer.Option("--cp", parser=size, metavar="N", help="GPUs that share every sequence.")]
Compile = Annotated[
    str | None,
    typer.Option("--compile", metavar="none|blocks|all", help="By torch.compile: each block, or the loss too."),
]


Options = dict[str, Any]


def asked(
    mode: Mode = "infer",
    batch: Batch = None,
    seq: Seq = None,
    src_seq: SrcSeq = None,
    tgt_seq: TgtSeq = None,
    precision: Precision = None,
    weights: Weights = None,
    optimizer: OptimizerName = None,
    accumulate: Accumulate = None,
    recompute: Recompute = None,
    attention: Attention = None,
    loss_chunks: LossChunks = None,
    freeze: Freeze = None,
    lora: Lora = None,
    lora_targets: LoraTargets = None,
    kv_dtype: KvDtype = None,
    kv_rule: KvRule = None,
    state_dtype: StateDtype = None,
    prefill: Prefill = None,
    overhead: Overhead = None,
    tp: Tp = None,
    dp: Dp = None,
    zero: Zero = None,
    sp: Sp = None,
    cp: Cp = None,
    compile: Compile = None,
) -> Options:
    """Every option as `archcalc.analyze.memory.answer` takes it."""
    return dict(locals())


def takes_them(command: Callable[..., None]) -> Callable[..., None]:
    """Show typer all options where the command has the one parameter `options`, and hand them over as that."""
    own = inspect.signature(command, eval_str=True).parameters
    shared = inspect.signature(asked, eval_str=True).parameters

    def called(**said: Any) -> None:
        options = asked(**{name: said.pop(name) for name in shared})
        command(**said, options=options)

    listed = [one for name, each in own.items() for one in (shared.values() if name == "options" else [each])]
    by_name = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in listed]
    called.__signature__ = inspect.Signature(by_name)  # type: ignore[attr-defined]  # what inspect looks for
    called.__doc__, called.__name__ = command.__doc__, command.__name__
    return called
