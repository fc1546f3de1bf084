"""Commands about specs: what ships, one printed, one to start from, and their schema."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from archcalc.cli.options import Format, ModelName, Set, Trace, loaded, size
from archcalc.cli.options import show as show_report
from archcalc.cli.printing import out
from archcalc.core.errors import InputError
from archcalc.spec.starters import USUAL, completed_starter, starter_of, starters


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
) -> None:
    """Models that ship with archcalc, and your own: name, family, parameters, source."""
    from archcalc.catalog.presets import presets as listed

    show_report(listed(family, min_params, max_params), format)


def show(
    model: ModelName = "textbook",
    set: Set = [],
    resolved: Annotated[
        bool, typer.Option("--resolved", help="Fill in every default, and mark what was filled in.")
    ] = False,
    trace: Trace = False,
) -> None:
    """Print a model's spec as YAML."""
    chosen = loaded(model, set, trace=trace)
    text = chosen.resolved_yaml() if resolved else chosen.yaml()
    out(text.rstrip("\n"))


def init(
    file: Annotated[str, typer.Argument(help="The file to write; - prints it instead.")],
    family: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            autocompletion=completed_starter,
            help=f"What to start from: {', '.join(starters())}.",
        ),
    ] = USUAL,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Write a commented spec to start from. Never overwrites without --force, and never through a link."""
    from archcalc.cli.new_file import write

    starter = starter_of(family)
    if file == "-":
        out(starter.rstrip("\n"))
        return
    if not file.strip():
        raise InputError("the name of the file is empty", "name one, such as model.yaml", field="FILE")
    write(Path(file), starter, replace=force)
    out(f"wrote {file}; try `archcalc params {file}`")


def schema() -> None:
    """JSON Schema of specs, for completion and checks in editors."""
    import json

    from archcalc.json_schema import schema as described

    out(json.dumps(described(), indent=2, ensure_ascii=False))
