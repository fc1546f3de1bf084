"""The input's way through the model, step by step: shapes, formulas, parameters and FLOPs."""

from __future__ import annotations

from typing import Annotated

import typer

from archcalc.cli.options import Batch, Format, ModelName, Notes, Seq, Set, SrcSeq, TgtSeq, loaded, show


def walk(
    model: ModelName = "textbook",
    step: Annotated[
        str | None,
        typer.Option("--step", metavar="N|PATH", help="One step with its working, or a part: decoder.blocks.cross."),
    ] = None,
    batch: Batch = None,
    seq: Seq = None,
    src_seq: SrcSeq = None,
    tgt_seq: TgtSeq = None,
    set: Set = [],
    symbolic: Annotated[bool, typer.Option("--symbolic", help="Names of dims instead of sizes.")] = False,
    format: Format = "table",
    notes: Notes = False,
) -> None:
    """The input's way through the model, step by step."""
    sizes = {"batch": batch, "seq": seq, "src_seq": src_seq, "tgt_seq": tgt_seq}
    show(loaded(model, set).walk(step=step, **sizes, symbolic=symbolic), format, notes=notes)
