"""Curves of memory, FLOPs and parameters, in the terminal or a file."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from archcalc.cli.declared import takes_options
from archcalc.cli.help import LOOK, OUTPUT, Help
from archcalc.cli.new_file import check_output
from archcalc.cli.options import Force, Format, Like, Models, Notes, Set, completed_gpu, labelled
from archcalc.cli.pictures import SUFFIXES, WRITTEN, answered
from archcalc.core.errors import InputError
from archcalc.render import formats
from archcalc.run.commands import PLOT

EXAMPLES = {
    "plot llama-3.1-8b --x context=1k..128k --gpu 24GB": "how far does the context grow?",
    "plot gpt2 --x batch=1..64 --mode train -o batch.svg": "memory by batch size, as a file",
    "plot gpt2 gpt2-medium --x seq=512,1k --y flops": "two models as two curves",
}
HELP = Help(LOOK, EXAMPLES, place=2)

X = Annotated[
    str,
    typer.Option(
        "--x",
        metavar="NAME=VALUES",
        help="What goes along the axis: an option (seq, batch, tp, weights …) or a field of the spec (d_model, "
        "decoder.blocks …). VALUES: 1k,2k,8k; 1k..128k, doubled; 512..4096:512, in steps; names.",
    ),
]
Y = Annotated[
    str,
    typer.Option(
        "--y",
        metavar="NAMES",
        help="What is drawn: memory, cache, weights, activations or another part of memory; params, active; flops, "
        "flops-per-token. Several with commas.",
    ),
]
By = Annotated[
    str | None,
    typer.Option(
        "--by",
        metavar="NAME[=VALUES]",
        help="A curve for each value of an option or field: --by weights, --by batch=1,8,64.",
    ),
]
Gpus = Annotated[
    list[str] | None,
    typer.Option(
        "--gpu",
        metavar="NAME|SIZE",
        autocompletion=completed_gpu,
        help="Draw the memory of this device, and say where curves pass it. Repeatable.",
    ),
]
Output = Annotated[
    str | None,
    OUTPUT.option("-o", "--output", metavar="FILE", help=f"The file to write, by its suffix: {SUFFIXES}"),
]
Log = Annotated[str | None, OUTPUT.rest.option("--log", metavar="x|y|x,y", help="Axes with a log scale.")]
Linear = Annotated[
    str | None,
    OUTPUT.rest.option("--linear", metavar="x|y|x,y", help="Axes with a linear scale."),
]


@takes_options
def plot(
    models: Models,
    x: X = ...,  # type: ignore[assignment]  # which typer reads as: must be given
    y: Y = "memory",
    by: By = None,
    gpu: Gpus = None,
    *,
    output: Output = None,
    log: Log = None,
    linear: Linear = None,
    options: Annotated[dict[str, Any], PLOT],
    set: Set = [],
    like: Like = None,
    format: Format = "table",
    notes: Notes = False,
    force: Force = False,
) -> None:
    """Curves over a field of the spec or an option: memory, FLOPs or parameters of one model or several.

    Every point is what `archcalc memory`, `flops` or `params` answers with the same options, all of which are taken.
    Where curves pass the memory of a device, or each other, is solved on whole numbers.
    """
    check_output(output, WRITTEN, has_format=format != "table", force=force)
    if format not in formats() and f".{format}" in WRITTEN:
        raise InputError(f"no format called {format}", f"-o plot.{format} writes such a file", field="--format")
    from archcalc.analyze.plot.answer import plotted
    from archcalc.analyze.plot.axes import Scales

    scales = Scales.of(log, linear)
    report = plotted(labelled(models, set, like=like), x, y, by, gpu or (), scales, options)
    answered(report, output, format, notes=notes, force=force)
