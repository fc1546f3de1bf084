"""An option, declared once: a field of a dataclass with its help, its check and its aliases.

    batch: int | None = option("Sequences computed together.", size, metavar="SIZE", also=("batch_size",))

The command line generates its options from these fields, Python checks its keywords by them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

from archcalc.spec.option_checks import Check

DECLARED = "option"


@dataclass(frozen=True)
class Option:
    """The properties of an option besides its name; its default is always None, which means not given."""

    help: str
    check: Check
    metavar: str = ""
    choices: tuple[str, ...] = ()  # every value that there is; empty: `check` alone decides
    modes: tuple[str, ...] = ()  # in which it has an effect; empty: in all of them
    commands: tuple[str, ...] = ()  # that take it; empty: all of them
    also: tuple[str, ...] = ()  # what other tools call it, accepted as well
    of_params: bool = False  # it also decides which parameters there are, or which are trained
    repeatable: bool = False  # on the command line
    one_dash: tuple[str, ...] = ()  # how other tools write it there: -ngl


def option(help: str, check: Check, **more: Any) -> Any:
    """Declare a dataclass field as an option with the default None."""
    declared = Option(help, check, **more)
    if declared.choices and not declared.metavar:
        declared = Option(help, check, **{**more, "metavar": "|".join(declared.choices)})
    return field(default=None, metadata={DECLARED: declared})


@cache
def declared(holder: type) -> tuple[tuple[str, Option], ...]:
    """The options that a dataclass declares, in their order, by name."""
    return tuple((each.name, each.metadata[DECLARED]) for each in fields(holder) if DECLARED in each.metadata)


def flag_of(name: str) -> str:
    """As it is written on the command line: `--src-seq`."""
    return f"--{name.replace('_', '-')}"
