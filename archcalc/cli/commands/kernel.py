"""The sequence length from which kernel attention is cheaper."""

from __future__ import annotations

from typing import Annotated

import typer

from archcalc.cli.options import Format, ModelName, Notes, Seq, Set, loaded, show, size


def kernel(
    model: ModelName = "textbook",
    seq: Seq = None,
    v_dim: Annotated[
        int | None,
        typer.Option(parser=size, metavar="SIZE", help="Width of a head's values; attention.v_dim in the spec."),
    ] = None,
    set: Set = [],
    format: Format = "table",
    notes: Notes = False,
) -> None:
    """Softmax against kernel attention: FLOPs and memory of each, and from which length on a kernel is cheaper."""
    show(loaded(model, set).kernel(seq=seq, v_dim=v_dim), format, notes=notes)
