"""The command that counts computation."""

from __future__ import annotations

from typing import Annotated

import typer

from archcalc.cli.declared import takes_options
from archcalc.cli.options import Depth, Format, ModelName, Set, check_names, loaded, show
from archcalc.run.options import Options


@takes_options
def flops(
    model: ModelName = "textbook",
    *,
    options: Options,
    set: Set = [],
    explain: Annotated[bool, typer.Option("--explain", help="Show how each number is worked out.")] = False,
    names: Annotated[bool, typer.Option("--names", help="With --explain: names of dims instead of numbers.")] = False,
    depth: Depth = None,
    format: Format = "table",
) -> None:
    """FLOPs and bytes moved on each GPU: forward, backward, recomputed, layer by layer and by kind of work."""
    check_names(names, explain, format)
    from archcalc.analyze.flops.answer import flops as counted

    show(counted(loaded(model, set), options, explain=explain, names=names, depth=depth or 4), format)
