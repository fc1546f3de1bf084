"""The commands, each a function in the file named here. Describing one to typer takes time, so only the one that is
called is described; for help, completion and a misspelt name all are."""

from __future__ import annotations

import importlib

import typer

from archcalc import __version__
from archcalc.cli.declared import ByGroup, normalised
from archcalc.cli.printing import out

COMMANDS = {  # the file, and what stands in the list of commands
    "params": ("questions", "Parameter counts, layer by layer."),
    "shapes": ("questions", "The shape of every tensor in the forward pass."),
    "diagram": ("diagram", "The architecture as a picture: SVG, Mermaid, PNG or PDF."),
    "flops": ("flops", "FLOPs and bytes moved: a training step, prefill or decode."),
    "memory": ("memory", "Peak memory of each GPU, in inference or training."),
    "fit": ("fit", "Which GPUs a model fits on, and what would make it fit."),
    "report": ("report", "Everything about a model on one page, as an HTML file."),
    "plot": ("plot", "Curves of memory, FLOPs and parameters, in the terminal or a file."),
    "gpus": ("gpus", "GPUs and other devices: memory, bandwidth, peak FLOP/s."),
    "compare": ("compare", "Two or more models side by side."),
    "ui": ("ui", "The explorer: a page in the browser, answered by this machine alone."),
    "kernel": ("kernel", "The sequence length from which kernel attention is cheaper."),
    "verify": ("verify", "Compare every number with PyTorch."),
    "identities": ("identities", "Claims of lectures and exercises, measured with PyTorch."),
    "worksheet": ("worksheet", "An exercise about a model: page, key, and a file for answers."),
    "check": ("worksheet", "Mark the answers to a worksheet."),
    "presets": ("files", "Models that ship with archcalc, and your own."),
    "show": ("files", "Print a model's spec as YAML."),
    "init": ("files", "Write a commented spec to start from."),
    "explain": ("explain", "What a field of a spec means, and an example of it."),
    "schema": ("files", "JSON Schema of specs, for editors."),
}


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
    for name in [called] if called in COMMANDS else COMMANDS:
        file, told = COMMANDS[name]
        command = getattr(importlib.import_module(f"archcalc.cli.{file}"), name)
        settings = {"token_normalize_func": normalised(command)}
        made.command(name, cls=ByGroup, short_help=told, context_settings=settings)(command)
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
