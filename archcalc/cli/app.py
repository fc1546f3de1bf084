"""The commands, each a function in the file named here. Describing one to typer takes time, so only the one that is
called is described; for help, completion and a misspelt name all are."""

from __future__ import annotations

import importlib

import typer

from archcalc import __version__

COMMANDS = {
    "params": "questions",
    "shapes": "questions",
    "compare": "compare",
    "kernel": "kernel",
    "flops": "flops",
    "memory": "memory",
    "fit": "fit",
    "gpus": "gpus",
    "verify": "verify",
    "identities": "identities",
    "presets": "files",
    "show": "files",
    "init": "files",
    "schema": "files",
}


def app(called: str = "") -> typer.Typer:
    """archcalc with the command that is called, or with all of them."""
    made = typer.Typer(
        name="archcalc",
        no_args_is_help=True,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    made.callback()(archcalc)
    for name in [called] if called in COMMANDS else COMMANDS:
        made.command(name)(getattr(importlib.import_module(f"archcalc.cli.{COMMANDS[name]}"), name))
    return made


def _version(asked: bool) -> None:
    if asked:
        print(f"archcalc {__version__}")
        raise typer.Exit


def archcalc(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Exact shapes, parameters and costs of neural-network architectures."""
