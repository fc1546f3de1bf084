"""Write a commented spec to start from."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from archcalc.cli.help import FILES, Help
from archcalc.cli.options import Force
from archcalc.cli.printing import out
from archcalc.core.errors import InputError, close_guess
from archcalc.spec.paths import data_root

EXAMPLES = {
    "init model.yaml": "a Transformer to start from",
    "init lstm.yaml --family recurrent": "a recurrent network",
    "init -": "print it instead",
}
HELP = Help(FILES, EXAMPLES, place=3)

USUAL = "transformer"


def starters() -> list[str]:
    """Every file of `presets/starters` by its name, the usual one first."""
    found = sorted(file.stem for file in (data_root() / "starters").glob("*.yaml"))
    return sorted(found, key=lambda name: name != USUAL)


def completed_starter(incomplete: str) -> list[str]:
    return [name for name in starters() if name.startswith(incomplete)]


def starter_of(name: str) -> str:
    """The text of one."""
    if name.lower() not in starters():
        first_lines = {each: re.findall(r"\w+", _text(each).partition("\n")[0].lower()) for each in starters()}
        meant = [each for each, words in first_lines.items() if name.lower() in words]  # such as LSTM or GPT
        guess = f"did you mean {' or '.join(meant)}?" if meant else close_guess(name, starters())
        raise InputError(
            f"no starter called {name}", f"there are {', '.join(starters())}", more=guess, field="--family"
        )
    return _text(name.lower())


def _text(name: str) -> str:
    return (data_root() / "starters" / f"{name}.yaml").read_text(encoding="utf-8")


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
