"""The architecture as a picture: SVG, Mermaid, PNG or PDF."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from archcalc.analyze.diagram.report import DiagramReport
from archcalc.cli.browser import is_terminal
from archcalc.cli.help import LOOK, OUTPUT, Help
from archcalc.cli.new_file import check_output, free_path, stem_of, suffix_of, write
from archcalc.cli.options import Batch, Force, Like, ModelName, Seq, Set, SrcSeq, TgtSeq, loaded, size
from archcalc.cli.printing import out
from archcalc.core.errors import InputError, did_you_mean
from archcalc.render import as_json, images
from archcalc.render.diagram import mermaid, svg
from archcalc.render.html import diagram as html_page

EXAMPLES = {
    "diagram gpt2 -o gpt2.svg": "a drawing of the architecture",
    "diagram resnet-50 --depth 2 -o resnet.png": "only the large parts of it",
    "diagram textbook --format markdown >> notes.md": "Mermaid, which GitHub draws",
}
HELP = Help(LOOK, EXAMPLES, place=1)

USUAL = "mermaid"


PRINTED: dict[str, Callable[[DiagramReport], str]] = {
    USUAL: mermaid.render,
    "svg": svg.render,
    "markdown": mermaid.in_markdown,
    "json": lambda report: as_json.render(report, width=80) + "\n",
}
WRITTEN: dict[str, Callable[[DiagramReport], str | bytes]] = {
    ".svg": svg.render,
    ".html": html_page.render,
    ".mmd": mermaid.render,
    ".md": mermaid.in_markdown,
    ".png": lambda report: images.png(svg.render(report)),
    ".pdf": lambda report: images.pdf(svg.render(report)),
    ".json": PRINTED["json"],
}
_SUFFIXES = " ".join(WRITTEN)


def diagram(
    model: ModelName = "textbook",
    output: Annotated[
        str | None,
        OUTPUT.option(
            "-o",
            "--output",
            metavar="FILE",
            help=f"The file to write, by its suffix: {_SUFFIXES}",
        ),
    ] = None,
    depth: Annotated[
        int | None,
        OUTPUT.option(
            parser=size,
            metavar="N",
            help="How many levels to open (default: 3, and mixtures of experts).",
        ),
    ] = None,
    symbolic: Annotated[
        bool, OUTPUT.option("--symbolic", help="Names of dims at the arrows instead of sizes.")
    ] = False,
    no_fold: Annotated[
        bool,
        OUTPUT.option("--no-fold", help="Draw each of the layers that repeat with other sizes (DenseNet, ResNet)."),
    ] = False,
    landscape: Annotated[
        bool, OUTPUT.option("--landscape", help="As near to the shape of a slide as it comes.")
    ] = False,
    batch: Batch = None,
    seq: Seq = None,
    src_seq: SrcSeq = None,
    tgt_seq: TgtSeq = None,
    set: Set = [],
    like: Like = None,
    format: Annotated[
        str | None,
        OUTPUT.option("--format", metavar="|".join(PRINTED), help="What to print where no file is named."),
    ] = None,
    force: Force = False,
) -> None:
    """Draw the architecture: parts with their parameters, arrows with shapes, repeated blocks once.

    On a terminal a new SVG file is written; piped, Mermaid is printed.
    """
    check_output(output, WRITTEN, has_format=bool(format), force=force)
    if format and format not in PRINTED:
        written_only = f"{format} is written to a file: -o diagram.{format}" if f".{format}" in WRITTEN else ""
        hint = written_only or did_you_mean(format, list(PRINTED))
        raise InputError(f"no format called {format}", hint, field="--format")
    sizes = {"batch": batch, "seq": seq, "src_seq": src_seq, "tgt_seq": tgt_seq}
    chosen = loaded(model, set, like=like)
    drawn = chosen.diagram(**sizes, depth=depth, symbolic=symbolic, fold=not no_fold, landscape=landscape)
    if output is None and (format or not is_terminal()):
        out(PRINTED[format or USUAL](drawn).rstrip("\n"))
        return
    path = Path(output) if output else free_path(stem_of(model), ".svg")
    write(path, WRITTEN[suffix_of(str(path), WRITTEN)](drawn), replace=force)
    out(f"wrote {path}" if output else f"wrote {path}; --format {USUAL} prints it as text")
