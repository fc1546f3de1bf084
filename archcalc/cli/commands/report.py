"""Everything about a model on one page, as an HTML file."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from archcalc.cli.browser import is_terminal, window
from archcalc.cli.commands.fit import Gpus
from archcalc.cli.declared import takes_options
from archcalc.cli.help import LOOK, OUTPUT, Help
from archcalc.cli.options import Force, Like, ModelName, Set, Trace, loaded
from archcalc.cli.printing import out
from archcalc.core.errors import InputError
from archcalc.run.commands import REPORT

EXAMPLES = {
    "report gpt2": "all of it on one page: gpt2.html",
    "report llama-3.1-8b --gpu 4090 --gpu h100": "with these two cards",
    "report gpt2 --mode train --batch 8 -o training.html": "of training alone",
}
HELP = Help(LOOK, EXAMPLES, place=3)

SUFFIXES = (".html", ".htm")

Output = Annotated[
    str | None,
    OUTPUT.option(
        "-o",
        "--output",
        metavar="FILE",
        help="The file to write (default: the model's name, .html, or -2.html where that is there).",
    ),
]
NoOpen = Annotated[
    bool,
    OUTPUT.option("--no-open", help="Only write the file. On a terminal the browser opens it otherwise."),
]


@takes_options
def report(
    model: ModelName = "textbook",
    output: Output = None,
    gpu: Gpus = None,
    *,
    options: Annotated[Mapping[str, Any], REPORT],
    set: Set = [],
    like: Like = None,
    force: Force = False,
    no_open: NoOpen = False,
    trace: Trace = False,
) -> None:
    """Everything about a model on one page, to look at and to send: an HTML file that needs no network.

    On a terminal it opens in the browser, where there is one.

    The architecture, parameters that open on a click, shapes, FLOPs, memory over a step with its peak, devices, and all
    assumptions. Inference and training, unless --mode asks for one. Takes the options of `archcalc memory`.
    """
    from archcalc.analyze.fit.matrix_axes import Typed
    from archcalc.analyze.overview import overview
    from archcalc.cli.new_file import check_free, free_path, stem_of, write

    stem = stem_of(model)
    unnamed = Path(f"{stem}.html") if force else free_path(stem, ".html")
    file = Path(output) if output else unnamed
    if file.suffix.lower() not in SUFFIXES:
        raise InputError("a report is an HTML file", f"name it {file.stem or 'report'}.html", field=str(file) or "-o")
    check_free(file, replace=force)
    typed, line = Typed(model, tuple(set)), shlex.join(["archcalc", *sys.argv[1:]])
    made = overview(loaded(model, set, like=like, trace=trace), gpu, options, command=line, typed=typed)
    write(file, made.html(), replace=force)
    browser = window() if is_terminal() and not no_open else None
    out(f"wrote {file}; it opens in your browser" if browser else f"wrote {file}")
    if browser:
        browser.open(file.resolve().as_uri())
