"""The command that computes how much memory a model takes."""

from __future__ import annotations

from typing import Annotated

import typer

from archcalc.cli.declared import takes_options
from archcalc.cli.options import Depth, Format, ModelName, Set, Trace, loaded, show
from archcalc.run.options import Options


@takes_options
def memory(
    model: ModelName = "textbook",
    *,
    options: Options,
    timeline: Annotated[bool, typer.Option("--timeline", help="Draw memory over the step, instead of layers.")] = False,
    set: Set = [],
    depth: Depth = None,
    format: Format = "table",
    trace: Trace = False,
) -> None:
    """Memory on each GPU, for inference or training: by part at the peak, and layer by layer."""
    from archcalc.analyze.memory.answer import memory as counted

    report = counted(loaded(model, set, trace=trace), options, timeline=timeline, depth=depth)
    show(report, format)
