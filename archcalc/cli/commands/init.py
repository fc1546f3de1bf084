"""Write a commented spec to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from archcalc.cli.options import Force
from archcalc.cli.printing import out
from archcalc.core.errors import InputError
from archcalc.spec.starters import USUAL, completed_starter, starter_of, starters


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
    force: Force = False,
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
