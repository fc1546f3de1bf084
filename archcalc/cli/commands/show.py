"""Print a model's spec as YAML."""

from __future__ import annotations

from typing import Annotated

import typer

from archcalc.cli.help import FILES, Help
from archcalc.cli.options import Like, ModelName, Set, Trace, loaded
from archcalc.cli.printing import out

EXAMPLES = {
    "show gpt2 > mine.yaml": "a copy to change",
    "show textbook --resolved": "what do the defaults fill in?",
    "show gpt2 --set heads=16": "the spec after a change",
}
HELP = Help(FILES, EXAMPLES, place=2)


def show(
    model: ModelName = "textbook",
    set: Set = [],
    like: Like = None,
    resolved: Annotated[
        bool, typer.Option("--resolved", help="Fill in every default, and mark what was filled in.")
    ] = False,
    trace: Trace = False,
) -> None:
    """Print a model's spec as YAML."""
    chosen = loaded(model, set, like=like, trace=trace)
    text = chosen.resolved_yaml() if resolved else chosen.yaml()
    out(text.rstrip("\n"))
