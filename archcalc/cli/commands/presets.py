"""Models that ship with archcalc, and your own."""

from __future__ import annotations

from typing import Annotated

import typer

from archcalc.cli.help import FILES, Help
from archcalc.cli.options import Format, Notes, show, size

EXAMPLES = {
    "presets qwen": "which models are there by that name?",
    "presets --kind moe --year 2025-": "which mixtures of experts are new?",
    "presets --modality images --max-params 1B": "which small ones read images?",
}
HELP = Help(FILES, EXAMPLES, place=1)


def presets(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORD", show_default=False, help="Only models with these words in their name or kind."),
    ] = None,
    family: Annotated[
        str,
        typer.Option(
            "--kind",
            "--family",
            metavar="WORD",
            help="Only kinds and families with these words: decoder, moe, vision, multimodal, lstm, cnn, llama …",
        ),
    ] = "",
    modality: Annotated[
        str, typer.Option(metavar="WORD", help="Only models that read this: text, images, audio, or several of them.")
    ] = "",
    year: Annotated[
        str, typer.Option(metavar="YEAR", help="Only models released in a year: 2025, 2024-2026, 2025- for all since.")
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
    """Models that ship with archcalc, and your own: name, kind, parameters, year, source."""
    from archcalc.catalog.presets import presets as listed

    found = listed(family, min_params, max_params, modality=modality, year=year, name=" ".join(words or []))
    show(found, format, notes=notes)
