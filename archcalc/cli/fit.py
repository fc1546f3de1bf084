"""The command that holds a model against devices."""

from __future__ import annotations

from typing import Annotated

import typer

from archcalc.cli import memory_options as says
from archcalc.cli.flops import Attention, Freeze, Lora, LoraTargets, Recompute, names_in
from archcalc.cli.gpus import completed_gpu
from archcalc.cli.options import Batch, Format, ModelName, Seq, Set, SrcSeq, TgtSeq, loaded, show

Gpus = Annotated[
    list[str] | None,
    typer.Option(
        "--gpu",
        metavar="NAME|SIZE",
        autocompletion=completed_gpu,
        help="A device of `archcalc gpus`, or a memory size such as 24GiB. Repeatable. Left out: ten usual ones.",
    ),
]


def fit(
    model: ModelName = "textbook",
    gpu: Gpus = None,
    mode: says.Mode = "infer",
    batch: Batch = None,
    seq: Seq = None,
    src_seq: SrcSeq = None,
    tgt_seq: TgtSeq = None,
    precision: says.Precision = None,
    weights: says.Weights = None,
    optimizer: says.OptimizerName = None,
    accumulate: says.Accumulate = None,
    recompute: Recompute = None,
    attention: Attention = None,
    loss_chunks: says.LossChunks = None,
    freeze: Freeze = None,
    lora: Lora = None,
    lora_targets: LoraTargets = None,
    kv_dtype: says.KvDtype = None,
    kv_rule: says.KvRule = None,
    prefill: says.Prefill = None,
    overhead: says.Overhead = None,
    tp: says.Tp = None,
    dp: says.Dp = None,
    zero: says.Zero = None,
    set: Set = [],
    format: Format = "table",
) -> None:
    """Will it fit? What a model needs against what devices have, how far it can grow there, and what would help.

    Takes the options of `archcalc memory`. The largest batch and the longest context are exact: one more does not fit.
    """
    from archcalc.analyze.fit import fit as fitted

    report = fitted(
        loaded(model, set),
        gpu,
        mode=mode,
        batch=batch,
        seq=seq,
        src_seq=src_seq,
        tgt_seq=tgt_seq,
        precision=precision,
        weights=weights,
        optimizer=optimizer,
        accumulate=accumulate,
        recompute=recompute,
        attention=attention,
        loss_chunks=loss_chunks,
        freeze=tuple(freeze) if freeze else None,
        lora=lora,
        lora_targets=names_in(lora_targets),
        kv_dtype=kv_dtype,
        kv_rule=kv_rule,
        prefill=prefill,
        overhead=says.as_bytes(overhead, "--overhead"),
        tp=tp,
        dp=dp,
        zero=zero,
    )
    show(report, format)
