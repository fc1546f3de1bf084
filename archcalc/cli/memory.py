"""The command that tells how much memory a model takes."""

from __future__ import annotations

from typing import Annotated

import typer

from archcalc.cli import memory_options as says
from archcalc.cli.flops import Attention, Freeze, Lora, LoraTargets, Recompute, names_in
from archcalc.cli.options import Batch, Depth, Format, ModelName, Seq, Set, SrcSeq, TgtSeq, loaded, show


def memory(
    model: ModelName = "textbook",
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
    timeline: Annotated[bool, typer.Option("--timeline", help="Draw memory over the step, instead of layers.")] = False,
    set: Set = [],
    depth: Depth = None,
    format: Format = "table",
) -> None:
    """Memory on each GPU, for inference or training: by part at the fullest instant, and layer by layer."""
    from archcalc.analyze.memory_report import USUAL_DEPTH

    report = loaded(model, set).memory(
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
        timeline=timeline,
        depth=depth or USUAL_DEPTH,
    )
    show(report, format)
