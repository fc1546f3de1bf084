"""FLOPs and bytes moved: a training step, prefill or decode."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from archcalc.cli.declared import takes_options
from archcalc.cli.options import Depth, Expect, Format, ModelName, Notes, Set, check_names, loaded, show
from archcalc.run.commands import FLOPS
from archcalc.run.options import Options


@takes_options
def flops(
    model: ModelName = "textbook",
    *,
    options: Annotated[Options, FLOPS],
    set: Set = [],
    explain: Annotated[bool, typer.Option("--explain", help="Show how each number is worked out.")] = False,
    names: Annotated[bool, typer.Option("--names", help="With --explain: names of dims instead of numbers.")] = False,
    depth: Depth = None,
    format: Format = "table",
    notes: Notes = False,
    expect: Expect = None,
) -> None:
    """FLOPs and bytes moved on each GPU: forward, backward, recomputed, layer by layer and by kind of work."""
    check_names(names, explain, format)
    from archcalc.analyze.flops.answer import flops as counted

    chosen = loaded(model, set)
    report = counted(chosen, options, explain=explain, names=names, depth=depth or 4)
    if expect is not None:
        from archcalc.exercises.expect.of_flops import expect_flops

        report = replace(report, expected=expect_flops(chosen, report, expect))
    show(report, format, notes=notes)
