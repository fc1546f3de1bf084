"""Which GPUs a model fits on, and what would make it fit."""

from __future__ import annotations

from typing import Annotated

import typer

from archcalc.cli.declared import takes_options
from archcalc.cli.help import MODEL, OPTIONS, OUTPUT, RUN, WORKLOAD, Help
from archcalc.cli.new_file import check_output
from archcalc.cli.options import Force, Format, Like, Notes, Set, Trace, completed_gpu, completed_preset, labelled
from archcalc.cli.pictures import SUFFIXES, WRITTEN, answered
from archcalc.core.errors import InputError
from archcalc.run.commands import FIT
from archcalc.run.options import Options

EXAMPLES = {
    "fit llama-3.1-8b --gpu 4090": "does it fit my card, with how much context?",
    "fit llama-3.1-8b --mode train --lora 16 --gpu 4090": "can I fine-tune it there?",
    "fit --models --gpu 4090": "which models run on my card?",
}
HELP = Help(RUN, EXAMPLES, place=1)

EXIT = {"fits": 0, "tight": 1, "does not fit": 1, "cannot say": 3}  # of --check; 2 is a wrong question

ModelNames = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="MODEL",
        rich_help_panel=MODEL,
        autocompletion=completed_preset,
        show_default=False,
        help="A preset, a file (YAML, config.json, safetensors, GGUF), hf:owner/name, or - for standard input. A "
        "folder of Hugging Face is one too. Several make a table. With --models, a part of the names to list.",
    ),
]
Gpus = Annotated[
    list[str] | None,
    WORKLOAD.option(
        "--gpu",
        metavar="NAME|SIZE|NxA|A+B",
        autocompletion=completed_gpu,
        help="A device of `archcalc gpus`, or a memory size. A card sold with 24GB has 24GiB. 2xrtx-3090: two that "
        "hold the model together; rtx-5070-ti+rtx-5090: unequal ones; here: this machine's cards. Repeatable (default: "
        "ten common devices).",
    ),
]
Axes = Annotated[
    str | None,
    typer.Option(
        "--table",
        metavar="ROWS,COLUMNS",
        help="What fits over two choices, such as weights,gpu. Of model, weights, kv-dtype, context, batch, gpu, plan. "
        "An axis may have values: weights=q8_0,q4_k_m or plan=1,tp2,dp8+zero3.",
    ),
]
CellKind = Annotated[
    str,
    OPTIONS.rest.option(
        "--cell",
        metavar="context|batch|memory",
        help="What a cell of --table has: the longest context, the largest batch, or the memory needed.",
        show_default=False,
    ),
]
Output = Annotated[
    str | None,
    OUTPUT.rest.option("-o", "--output", metavar="FILE", help=f"The file to write, by its suffix: {SUFFIXES}"),
]
Presets = Annotated[
    bool,
    typer.Option("--models", help="Which presets run on a device. In which format, and with how much context (--seq)."),
]
Check = Annotated[
    bool,
    typer.Option(
        "--check",
        help="Answer by the exit code, for scripts and CI. 0: it fits on every device with the error band to spare; 1: "
        "it is tight or does not fit on one; 3: archcalc cannot say.",
    ),
]


@takes_options
def fit(
    model: ModelNames = None,
    gpu: Gpus = None,
    *,
    check: Check = False,
    table: Axes = None,
    cell: CellKind = "",
    output: Output = None,
    models: Presets = False,
    options: Annotated[Options, FIT],
    set: Set = [],
    like: Like = None,
    format: Format = "table",
    notes: Notes = False,
    force: Force = False,
    trace: Trace = False,
) -> None:
    """Will it fit? What a model needs against what devices have, how far it can grow there, and what would help.

    The verdict is fits, tight (within the error of measured runs, on either side), does not fit, or cannot say (only a
    part of the model is counted, or no such runs were measured and the limit is near). Takes the options of `archcalc
    memory`. What is listed as making it fit does so when it is tried.
    """
    check_output(output, WRITTEN, has_format=format != "table", force=force)
    several = bool(model and len(model) > 1)
    if check and (table or models or several):
        raise InputError("has no effect with a table", "leave it out, or ask about one case", field="--check")
    if options.measured and (table or models or several):
        hint = "leave it out, or ask about the case that was measured"
        raise InputError("is about one case, and no table", hint, field="--measured")
    if cell and not (table or several):
        raise InputError("is about the cells of a table", "add --table weights,gpu", field="--cell")
    if models:
        from archcalc.catalog.runs_here import runs_here

        if not gpu or len(gpu) > 1:
            raise InputError("is about one device", "add --gpu NAME, such as --gpu m3-ultra-256gb", field="--models")
        answered(runs_here(gpu[0], options, " ".join(model or ())), output, format, notes=notes, force=force)
        return
    if not model:
        hint = "name one, such as `archcalc fit llama-3-8b`; with --models, every preset that runs on --gpu is listed"
        raise InputError("a model is missing", hint, field="MODEL")
    chosen = labelled(model, set, like=like, trace=trace)
    if table or several:
        from archcalc.analyze.fit.matrix import matrix
        from archcalc.analyze.fit.matrix_axes import Typed

        typed = [(Typed(name, tuple(set)), one) for name, (_, one) in zip(model, chosen, strict=True)]
        made = matrix(typed, gpu, options, table or "model,gpu", cell)
        answered(made, output, format, notes=notes, force=force)
        return
    from archcalc.analyze.fit.answer import fitted

    report = fitted(chosen[0][1], gpu, options)
    _ = report.marginals  # worked out here, so that rendering only writes
    answered(report, output, format, notes=notes, force=force)
    if check:
        raise typer.Exit(EXIT[report.verdict.value])
