"""Errors that typer finds in a command line, in the form of every archcalc error.

Which option, what was expected and what it may have meant are attributes of typer's exceptions; the sentences that it
makes of them differ from version to version.
"""

from __future__ import annotations

from typing import Any

import typer

from archcalc.core.errors import InputError, did_you_mean

UsageError: type[Exception] = typer.BadParameter.__mro__[1]  # click's, or that of the click inside typer


def no_command(name: str, known: list[str]) -> InputError:
    return InputError(f"no command is called {name}", did_you_mean(name, known), more="`archcalc --help` lists all")


def mistake(error: Any, command: str) -> InputError:
    """`--seq: expected a whole number …`, and which --help to read."""
    where = " ".join(part for part in ("archcalc", command, "--help") if part)
    param = getattr(error, "param", None)
    options = [name for name in getattr(param, "opts", ()) if name.startswith("-")]
    named = getattr(param, "metavar", None) or getattr(param, "name", None) or ""
    field, close = str(options[0] if options else named), []  # as help names it
    said = str(error.message).rstrip(".")
    fact = said[:1].lower() + said[1:]
    if hasattr(error, "possibilities"):
        fact, field = "no such option", str(error.option_name)  # as typed
        close = [f"did you mean {' or '.join(sorted(error.possibilities))}?"] if error.possibilities else []
    elif hasattr(error, "param_type"):
        fact = "missing"
    hint, more = (*close, f"`{where}` lists its options", "")[:2]
    return InputError(fact, hint, more=more, field=field)
