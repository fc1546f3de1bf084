"""The command that checks which devices a model fits on."""

from __future__ import annotations

from typing import Annotated

import typer

from archcalc.cli.declared import takes_options
from archcalc.cli.gpus import completed_gpu
from archcalc.cli.options import Format, ModelName, Set, Trace, loaded, show
from archcalc.run.options import Options

Gpus = Annotated[
    list[str] | None,
    typer.Option(
        "--gpu",
        metavar="NAME|SIZE",
        autocompletion=completed_gpu,
        help="A device of `archcalc gpus`, or a memory size; a card sold with 24GB has 24GiB. Repeatable "
        "(default: ten common devices).",
    ),
]


@takes_options
def fit(
    model: ModelName = "textbook",
    gpu: Gpus = None,
    *,
    options: Options,
    set: Set = [],
    format: Format = "table",
    trace: Trace = False,
) -> None:
    """Will it fit? What a model needs against what devices have, how far it can grow there, and what would help.

    Takes the options of `archcalc memory`. The largest batch and the longest context are exact: one more does not fit.
    """
    from archcalc.analyze.fit.answer import fitted

    show(fitted(loaded(model, set, trace=trace), gpu, options), format)
