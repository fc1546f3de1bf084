"""What a command declares for its help, and the headings there are: of commands, and of options.

    HELP = Help(RUN, {"fit gpt2 --gpu 4090": "does it fit my card?", …})     in the command's file

Every file of a command is loaded to list commands, so this one imports next to nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import typer

from archcalc.spec.option import GROUPS as PANELS_OF_OPTIONS

COUNT, RUN, LOOK, LEARN, FILES, OTHERS = GROUPS = (  # of commands, in the order of the list
    "Count: what a model has and does",
    "Run: on which devices, in how much memory",
    "Look: pictures and pages",
    "Learn: exercises, terms and proofs",
    "Files: models to start from",
    "Others",
)
LAST = 99  # whoever does not say where it stands


class Help(NamedTuple):
    """`examples` are three command lines, each with what it answers; `place` is where it stands in its group."""

    group: str = OTHERS
    examples: Mapping[str, str] = MappingProxyType({})
    place: int = LAST


class Panel(str):
    """A heading of options. `panel.rest` is the same heading, for an option that only --help-all shows."""

    is_rest = False

    @property
    def rest(self) -> Panel:
        found = Panel(self)
        found.is_rest = True
        return found

    def option(self, *flags: str, **more: Any) -> Any:
        """An option of a command's own, under this heading."""
        return typer.Option(*flags, rich_help_panel=self, **more)


PANELS = {name: Panel(heading) for name, heading in PANELS_OF_OPTIONS.items()}
MODEL, WORKLOAD, OUTPUT = PANELS["model"], PANELS["workload"], PANELS["output"]
ARGUMENTS, OPTIONS = Panel("Arguments"), Panel("Options")  # of those that are under no heading
HEADINGS = (ARGUMENTS, MODEL, OPTIONS, *(panel for panel in PANELS.values() if panel != MODEL))  # in their order
