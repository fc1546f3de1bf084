"""Models on the command line that lays several of them side by side: `gpt2 gpt2:heads=8,ffn=2048`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from archcalc.cli.options import completed_preset, loaded
from archcalc.core.errors import InputError

if TYPE_CHECKING:
    from archcalc.model import Model

_CHANGES = re.compile(r":(?=[A-Za-z_][\w.\[\]-]*=)")  # gpt2:heads=8, but neither C:\model.yaml nor {width: 512}
_NEXT = re.compile(r",(?=[A-Za-z_][\w.\[\]-]*=)")

Models = Annotated[
    list[str],
    typer.Argument(
        metavar="MODEL",
        autocompletion=completed_preset,
        help="Presets, YAML files, or -. A colon changes fields of one model: gpt2:heads=8,ffn=2048.",
    ),
]


def labelled(names: list[str], changes: list[str]) -> list[tuple[str, Model]]:
    """Each model as it was typed, with its own changes and then those of all."""
    found = []
    for text in names:
        name, own = split(text)
        try:
            model = loaded(name, [*own, *changes])
        except InputError as error:
            change = error.file.removeprefix("--set ")
            if change in own:
                error.file = text
            elif change in changes:
                error.more = f"this is {text}; to change one model alone, write MODEL:{change}"
            raise
        found.append((model.name if text == "-" else text, model))
    return found


def split(text: str) -> tuple[str, list[str]]:
    """`gpt2:heads=8,ffn=2048` is gpt2 with two changes."""
    from archcalc.loading import certainly

    if certainly(Path(text).exists):
        return text, []
    name, *changes = _CHANGES.split(text, maxsplit=1)
    return name, [change for all_of_them in changes for change in _NEXT.split(all_of_them)]
