"""Options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from archcalc.cli.help import MODEL, OUTPUT, WORKLOAD
from archcalc.cli.printing import out, width
from archcalc.core.errors import InputError
from archcalc.render import formats, render
from archcalc.report.base import Report
from archcalc.spec.option import declared
from archcalc.spec.sizes import Sizes

if TYPE_CHECKING:
    from archcalc.model import Model

_CHANGES = re.compile(r":(?=[A-Za-z_][\w.\[\]-]*=)")  # gpt2:heads=8, but neither C:\model.yaml nor {width: 512}
_NEXT = re.compile(r",(?=[A-Za-z_][\w.\[\]-]*=)")


def size(text: str | int) -> int:
    """A size on the command line, as people write them."""
    from archcalc.spec import option_checks

    try:
        return option_checks.size(text, "")
    except InputError as error:
        raise typer.BadParameter(error.fact) from None


def completed_preset(incomplete: str) -> list[str]:
    from archcalc.spec.paths import presets

    return [name for name in presets() if name.startswith(incomplete)]


def completed_gpu(incomplete: str) -> list[str]:
    from archcalc.spec.paths import presets

    return [name for name in (*presets("gpus"), "here") if name.startswith(incomplete)]


def completed_type(incomplete: str) -> list[str]:
    from archcalc.importers.hf import translators

    return [name for name in translators() if name.startswith(incomplete)]


ModelName = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        rich_help_panel=MODEL,
        autocompletion=completed_preset,
        show_default=False,
        help="A preset, a file (YAML, config.json, safetensors, GGUF), hf:owner/name, or - for standard input. A "
        "folder of Hugging Face is one too. Without one: the textbook Transformer.",
    ),
]
Models = Annotated[
    list[str],
    typer.Argument(
        metavar="MODEL",
        rich_help_panel=MODEL,
        autocompletion=completed_preset,
        help="Presets, YAML files, or -. A colon changes fields of one model: gpt2:heads=8,ffn=2048.",
    ),
]
Set = Annotated[
    list[str],
    MODEL.option(
        "--set",
        metavar="PATH=VALUE",
        help="Change a field, such as encoder.blocks=6. By its place: layers[-1].linear=100. Repeatable.",
    ),
]
Format = Annotated[str, OUTPUT.option("--format", metavar="|".join(formats()), help="How to print the answer.")]
Notes = Annotated[
    bool,
    OUTPUT.option("--notes", help="Print every assumption and note. Without it those that matter most."),
]
SIZES = dict(declared(Sizes))
Batch = Annotated[int | None, WORKLOAD.option(parser=size, metavar="SIZE", help=SIZES["batch"].help)]
Seq = Annotated[int | None, WORKLOAD.option(parser=size, metavar="SIZE", help=SIZES["seq"].help)]
SrcSeq = Annotated[int | None, WORKLOAD.rest.option(parser=size, metavar="SIZE", help=SIZES["src_seq"].help)]
TgtSeq = Annotated[int | None, WORKLOAD.rest.option(parser=size, metavar="SIZE", help=SIZES["tgt_seq"].help)]
Depth = Annotated[
    int | None,
    OUTPUT.option(parser=size, metavar="N", help="How many levels of the tree to show."),
]
Force = Annotated[bool, OUTPUT.option("--force", help="Overwrite an existing file.")]
Trace = Annotated[
    bool,
    MODEL.rest.option(
        "--trace",
        help="Let transformers build a config that archcalc cannot read in full, and count its tensors.",
    ),
]
Like = Annotated[
    str | None,
    MODEL.rest.option(
        "--like",
        metavar="TYPE",
        autocompletion=completed_type,
        help="Read a config.json of an unknown model type as this one, such as qwen3.",
    ),
]


Expect = Annotated[
    str | None,
    OUTPUT.option(
        "--expect",
        metavar="N",
        help="A number to compare with, such as 124M or 3.2GB. Says whether it is this figure, or which convention "
        "gives it. Exit code 1 if it is not the figure.",
    ),
]
DIFFERENT = 1  # of an exit code


def loaded(model: str, changes: list[str], *, trace: bool = False, like: str | None = None) -> Model:
    from archcalc.cli.reading import read
    from archcalc.loading import load

    return read(load(model, set=changes, trace=trace, like=like))


def check_names(names: bool, explain: bool, format: str) -> None:
    """Formats for programs have every working; those for people have it with --explain."""
    if names and not explain and format not in ("json", "csv"):
        raise InputError("--names has no effect without --explain", "add --explain", field="--names")


_taken: ContextVar[list[tuple[Report, bool]] | None] = ContextVar("taken", default=None)


@contextmanager
def collected() -> Iterator[list[tuple[Report, bool]]]:
    """What commands answer meanwhile, each with whether all of its notes are wanted, instead of printing it."""
    found = list[tuple[Report, bool]]()
    token = _taken.set(found)
    try:
        yield found
    finally:
        _taken.reset(token)


def show(report: Report, format: str, *, notes: bool = False, failed: bool = False) -> None:
    """Print a report in the chosen format, at the terminal's width. Exits with 1 where a comparison failed, or where
    its figure is not the number that was expected."""
    if (taken := _taken.get()) is not None:
        taken.append((report, notes))
        return
    if format not in formats():
        raise InputError(f"no format called {format}", f"choose from: {', '.join(formats())}", field="--format")
    out(render(report, format, width=width(), notes=notes))
    if failed or (report.expected and not report.expected.is_met):
        raise typer.Exit(DIFFERENT)


def labelled(
    names: list[str], changes: list[str], *, trace: bool = False, like: str | None = None
) -> list[tuple[str, Model]]:
    """Models that stand side by side: each as it was typed, with its own changes and then those of all."""
    from archcalc.loading import is_text

    found = []
    for text in names:
        name, own = split(text)
        try:
            model = loaded(name, [*own, *changes], trace=trace, like=like)
        except InputError as error:
            change = error.file.removeprefix("--set ")
            if change in own:
                error.file = text
            elif change in changes:
                error.more = f"this is {text}; to change one model alone, write MODEL:{change}"
            raise
        found.append((model.name if text == "-" or is_text(text) else text, model))
    return found


def split(text: str) -> tuple[str, list[str]]:
    """`gpt2:heads=8,ffn=2048` is gpt2 with two changes."""
    from archcalc.loading import certainly, is_text

    if is_text(text) or certainly(Path(text).exists):
        return text, []
    name, *changes = _CHANGES.split(text, maxsplit=1)
    return name, [change for all_of_them in changes for change in _NEXT.split(all_of_them)]
