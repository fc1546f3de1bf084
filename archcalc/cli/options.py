"""Options that several commands share."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from archcalc.cli.printing import out
from archcalc.core.errors import InputError
from archcalc.render import formats, render

if TYPE_CHECKING:
    from archcalc.model import Model


NARROWEST = 20  # columns; below that nothing can be laid out


def size(text: str | int) -> int:
    """A size on the command line, as people write them."""
    from archcalc.spec import option_checks

    return _checked(option_checks.size, text)


def whole(text: str | int) -> int:
    """A number that may be 0."""
    from archcalc.spec import option_checks

    return _checked(option_checks.number, text)


def _checked(check: Callable[[Any, str], int], text: str | int) -> int:
    try:
        return check(text, "")
    except InputError as error:
        raise typer.BadParameter(error.fact) from None


def completed_preset(incomplete: str) -> list[str]:
    from archcalc.spec.paths import presets

    return [name for name in presets() if name.startswith(incomplete)]


ModelName = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        autocompletion=completed_preset,
        show_default=False,
        help="A preset's name, a YAML file, a Hugging Face config.json or its folder, weights (safetensors, GGUF), "
        "hf:owner/name, or - for standard input (default: the textbook Transformer).",
    ),
]
Set = Annotated[
    list[str], typer.Option("--set", metavar="PATH=VALUE", help="Change a field, such as encoder.blocks=6. Repeatable.")
]
Format = Annotated[str, typer.Option("--format", metavar="|".join(formats()), help="How to print the answer.")]
Batch = Annotated[int | None, typer.Option(parser=size, metavar="SIZE", help="Sequences computed together.")]
Seq = Annotated[int | None, typer.Option(parser=size, metavar="SIZE", help="Sequence length (source and target).")]
SrcSeq = Annotated[int | None, typer.Option(parser=size, metavar="SIZE", help="The encoder's sequence length.")]
TgtSeq = Annotated[int | None, typer.Option(parser=size, metavar="SIZE", help="The decoder's sequence length.")]
Depth = Annotated[int | None, typer.Option(parser=size, metavar="N", help="How many levels of the tree to show.")]
Trace = Annotated[
    bool,
    typer.Option(
        "--trace",
        help="Let transformers build a config that archcalc cannot read in full, and count its tensors.",
    ),
]


def loaded(model: str, changes: list[str], *, trace: bool = False) -> Model:
    from archcalc.loading import load

    return load(model, set=changes, trace=trace)


def show(report: Any, format: str) -> None:
    """Print a report in the format asked for, as wide as the terminal is."""
    if format not in formats():
        raise InputError(f"no format called {format}", f"choose from: {', '.join(formats())}", field="--format")
    width = max(shutil.get_terminal_size(fallback=(80, 24)).columns, NARROWEST)
    out(render(report, format, width=width))
