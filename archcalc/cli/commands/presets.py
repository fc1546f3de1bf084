"""Models that ship with archcalc, and your own."""

from __future__ import annotations

from typing import Annotated

import typer

from archcalc.cli.help import FILES, Help
from archcalc.cli.options import Format, Notes, show, size

EXAMPLES = {
    "presets": "which models are there?",
    "presets --family moe": "which are mixtures of experts?",
    "presets --min-params 6B --max-params 9B": "which are of this size?",
}
HELP = Help(FILES, EXAMPLES, place=1)


def presets(
    family: Annotated[
        str, typer.Option(metavar="WORD", help="Only families with these words: moe, lstm, cnn, vision, llama …")
    ] = "",
    min_params: Annotated[
        int, typer.Option(parser=size, metavar="SIZE", help="Only models with at least this many parameters.")
    ] = 1,
    max_params: Annotated[
        int | None, typer.Option(parser=size, metavar="SIZE", help="Only models with at most this many, such as 10B.")
    ] = None,
    format: Format = "table",
    notes: Notes = False,
) -> None:
    """Models that ship with archcalc, and your own: name, family, parameters, source."""
    from archcalc.catalog.presets import presets as listed

    show(listed(family, min_params, max_params), format, notes=notes)
