"""The command that counts computation."""

from __future__ import annotations

from typing import Annotated

import typer

from archcalc.cli.options import Batch, Depth, Format, ModelName, Seq, Set, SrcSeq, TgtSeq, loaded, show, size
from archcalc.core.errors import InputError

Recompute = Annotated[
    str | None,
    typer.Option(
        metavar="none|selective|ops|full",
        help="Compute again: nothing; attention's core; all but every second matrix product and attention, "
        "as torchtitan's selective checkpointing op by op; or whole blocks.",
    ),
]
Attention = Annotated[
    str | None,
    typer.Option(metavar="eager|flash", help="Scores stored, or attention as one kernel that keeps none."),
]
Freeze = Annotated[
    list[str] | None,
    typer.Option("--freeze", metavar="LAYER", help="Train all but this: embedding, attention.q, … Repeatable."),
]
Lora = Annotated[
    int | None, typer.Option("--lora", parser=size, metavar="RANK", help="Train low-rank adapters of this rank alone.")
]
LoraTargets = Annotated[
    str | None,
    typer.Option(metavar="LAYERS", help="Which linear layers get adapters: q,v unless said; all for every one."),
]


def flops(
    model: ModelName = "textbook",
    mode: Annotated[
        str, typer.Option(metavar="train|prefill|decode", help="A training step, a forward pass, one more token.")
    ] = "train",
    batch: Batch = None,
    seq: Seq = None,
    src_seq: SrcSeq = None,
    tgt_seq: TgtSeq = None,
    context: Annotated[
        int | None, typer.Option(parser=size, metavar="SIZE", help="Tokens that are cached when one more is decoded.")
    ] = None,
    causal: Annotated[
        str | None, typer.Option(metavar="full|half", help="Count what a causal mask hides, or leave it out.")
    ] = None,
    recompute: Recompute = None,
    attention: Attention = None,
    tokens: Annotated[
        int | None, typer.Option(parser=size, metavar="SIZE", help="Training on so many tokens, beside the 6ND rule.")
    ] = None,
    freeze: Freeze = None,
    lora: Lora = None,
    lora_targets: LoraTargets = None,
    set: Set = [],
    explain: Annotated[bool, typer.Option("--explain", help="Show how each number is worked out.")] = False,
    names: Annotated[bool, typer.Option("--names", help="With --explain: names of dims instead of numbers.")] = False,
    depth: Depth = None,
    format: Format = "table",
) -> None:
    """FLOPs: forward, backward, recomputed, layer by layer and by kind of work."""
    if names and not explain and format == "table":
        raise InputError("--names has no effect without --explain", "add --explain", field="--names")
    report = loaded(model, set).flops(
        mode=mode,
        batch=batch,
        seq=seq,
        src_seq=src_seq,
        tgt_seq=tgt_seq,
        context=context,
        causal=causal,
        recompute=recompute,
        attention=attention,
        tokens=tokens,
        freeze=freeze,
        lora=lora,
        lora_targets=lora_targets,
        explain=explain,
        names=names,
        depth=depth or 4,
    )
    show(report, format)
