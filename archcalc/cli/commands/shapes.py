"""The shape of every tensor in the forward pass."""

from __future__ import annotations

from typing import Annotated

import typer

from archcalc.cli.options import Batch, Depth, Format, ModelName, Notes, Seq, Set, SrcSeq, TgtSeq, loaded, show


def shapes(
    model: ModelName = "textbook",
    batch: Batch = None,
    seq: Seq = None,
    src_seq: SrcSeq = None,
    tgt_seq: TgtSeq = None,
    set: Set = [],
    symbolic: Annotated[bool, typer.Option("--symbolic", help="Names of dims instead of sizes.")] = False,
    parameters: Annotated[bool, typer.Option("--parameters", help="Show the shapes of parameters too.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the equations of recurrent layers, and who writes them otherwise.")
    ] = False,
    depth: Depth = None,
    format: Format = "table",
    notes: Notes = False,
) -> None:
    """The shape of every tensor in the forward pass."""
    chosen = loaded(model, set)
    sizes = {"batch": batch, "seq": seq, "src_seq": src_seq, "tgt_seq": tgt_seq}
    show(
        chosen.shapes(**sizes, symbolic=symbolic, parameters=parameters, explain=explain, depth=depth),
        format,
        notes=notes,
    )
