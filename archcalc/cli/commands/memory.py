"""Peak memory of each GPU, in inference or training."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from archcalc.cli.declared import takes_options
from archcalc.cli.options import Depth, Expect, Format, ModelName, Notes, Set, Trace, loaded, show
from archcalc.run.commands import MEMORY
from archcalc.run.options import Options


@takes_options
def memory(
    model: ModelName = "textbook",
    *,
    options: Annotated[Options, MEMORY],
    timeline: Annotated[bool, typer.Option("--timeline", help="Draw memory over the step, instead of layers.")] = False,
    set: Set = [],
    depth: Depth = None,
    format: Format = "table",
    notes: Notes = False,
    trace: Trace = False,
    expect: Expect = None,
) -> None:
    """Memory on each GPU, for inference or training: by part at the peak, and layer by layer."""
    from archcalc.analyze.memory.answer import memory as counted

    chosen = loaded(model, set, trace=trace)
    report = counted(chosen, options, timeline=timeline, depth=depth)
    _ = report.marginals  # worked out here, so that rendering only writes
    if expect is not None:
        from archcalc.exercises.expect.of_memory import expect_memory

        expected = expect_memory(chosen, report, expect, lambda other: counted(other, options))
        report = replace(report, expected=expected)
    show(report, format, notes=notes)
