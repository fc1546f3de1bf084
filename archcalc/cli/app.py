"""The program with its commands. Describing one to typer takes time, so only the one that is called is described; for
help, completion and a misspelt name all are."""

from __future__ import annotations

import importlib

import typer

from archcalc.cli import commands
from archcalc.cli.declared import ByGroup
from archcalc.cli.printing import out
from archcalc.version import __version__


def app(called: str = "") -> typer.Typer:
    """archcalc with the command that is called, or with all of them."""
    made = typer.Typer(
        name="archcalc",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,  # a traceback is a bug of ours: as Python writes it, for a report
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    made.callback()(archcalc)
    known = commands.names()
    for name in [called] if called in known else known:
        module = importlib.import_module(f"archcalc.cli.commands.{name}")
        function, short = getattr(module, name), (module.__doc__ or "").partition("\n")[0]
        made.command(name, cls=ByGroup, short_help=short)(function)
    return made


def _version(asked: bool) -> None:
    if asked:
        out(f"archcalc {__version__}")
        raise typer.Exit


def archcalc(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Exact shapes, parameters and costs of neural-network architectures."""
