"""The sequence length from which kernel attention is cheaper."""

from __future__ import annotations

from typing import Annotated

import typer

from archcalc.cli.help import COUNT, Help
from archcalc.cli.options import Format, Like, ModelName, Notes, Seq, Set, loaded, show, size

EXAMPLES = {
    "kernel textbook": "from which length on is kernel attention cheaper?",
    "kernel llama-3.1-8b --seq 8k": "and what does each cost at 8,000 tokens?",
    "kernel textbook --v-dim 64": "with narrower values?",
}
HELP = Help(COUNT, EXAMPLES, place=6)


def kernel(
    model: ModelName = "textbook",
    seq: Seq = None,
    v_dim: Annotated[
        int | None,
        typer.Option(parser=size, metavar="SIZE", help="Width of a head's values; attention.v_dim in the spec."),
    ] = None,
    set: Set = [],
    like: Like = None,
    format: Format = "table",
    notes: Notes = False,
) -> None:
    """Softmax against kernel attention: FLOPs and memory of each, and from which length on a kernel is cheaper."""
    show(loaded(model, set, like=like).kernel(seq=seq, v_dim=v_dim), format, notes=notes)
