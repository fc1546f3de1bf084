"""The command line. Only this package prints, exits, or catches; a command loads, analyzes and renders.

Exit codes: 0 answered, 1 verification found a difference, 2 the input is at fault.
"""

from __future__ import annotations

import os
import sys

import typer

from archcalc import __version__
from archcalc.cli import compare, files, fit, flops, gpus, identities, kernel, memory, questions, verify
from archcalc.errors import InputError

app = typer.Typer(
    name="archcalc",
    help="Exact shapes, parameters and costs of neural-network architectures.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(asked: bool) -> None:
    if asked:
        print(f"archcalc {__version__}")
        raise typer.Exit


@app.callback()
def archcalc(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Exact shapes, parameters and costs of neural-network architectures."""


for command in (
    *questions.COMMANDS,
    *compare.COMMANDS,
    *kernel.COMMANDS,
    *flops.COMMANDS,
    *memory.COMMANDS,
    *fit.COMMANDS,
    *gpus.COMMANDS,
    *verify.COMMANDS,
    *identities.COMMANDS,
    *files.COMMANDS,
):
    app.command()(command)


def main() -> None:
    """Run, and turn a user's mistake into one message and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        app()
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # `archcalc shapes | head` has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except KeyboardInterrupt:
        sys.exit(130)
