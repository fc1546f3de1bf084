"""The input's way through the model, step by step: shapes, formulas, parameters and FLOPs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

from archcalc.analyze.walk.report import WalkReport
from archcalc.cli.help import LOOK, OUTPUT, Help
from archcalc.cli.new_file import check_output, suffix_of, write
from archcalc.cli.options import Batch, Force, Like, ModelName, Notes, Seq, Set, SrcSeq, TgtSeq, loaded, show
from archcalc.cli.printing import out
from archcalc.render import formats, images, render

EXAMPLES = {
    "walk textbook -o walk.html": "a page for a lecture, step by step",
    "walk gpt2 --step decoder.blocks.attention": "shapes, formulas and counts of one part, worked out",
    "walk resnet-18 --step conv_1 -o conv_1.svg": "one step for a slide, tensors to scale",
}
HELP = Help(LOOK, EXAMPLES, place=2)

svg = partial(render, format="svg")
WRITTEN: dict[str, Callable[[WalkReport], str | bytes]] = {
    ".html": partial(render, format="html"),
    ".svg": svg,
    ".png": lambda report: images.png(svg(report)),
    ".pdf": lambda report: images.pdf(svg(report)),
    ".md": partial(render, format="markdown"),
    ".json": partial(render, format="json"),
}


def walk(
    model: ModelName = "textbook",
    step: Annotated[
        str | None,
        OUTPUT.option("--step", metavar="N|PATH", help="One step with its working, or a part: decoder.blocks.cross."),
    ] = None,
    batch: Batch = None,
    seq: Seq = None,
    src_seq: SrcSeq = None,
    tgt_seq: TgtSeq = None,
    set: Set = [],
    like: Like = None,
    symbolic: Annotated[bool, OUTPUT.option("--symbolic", help="Names of dims instead of sizes.")] = False,
    output: Annotated[
        str | None,
        OUTPUT.option("-o", "--output", metavar="FILE", help=f"The file to write, by its suffix: {' '.join(WRITTEN)}"),
    ] = None,
    format: Annotated[
        str | None, OUTPUT.option("--format", metavar="|".join(formats()), help="How to print the answer.")
    ] = None,
    force: Force = False,
    notes: Notes = False,
) -> None:
    """The input's way through the model, step by step: what happens, shapes, the formula, parameters and FLOPs.

    -o walk.html writes a page for a lecture: tensors drawn to scale, a link for each step, arrow keys to go on.
    """
    check_output(output, WRITTEN, has_format=bool(format), force=force)
    sizes = {"batch": batch, "seq": seq, "src_seq": src_seq, "tgt_seq": tgt_seq}
    report = loaded(model, set, like=like).walk(step=step, **sizes, symbolic=symbolic)
    if output is None:
        show(report, format or "table", notes=notes)
        return
    write(Path(output), WRITTEN[suffix_of(output, WRITTEN)](report), replace=force)
    out(f"wrote {output}")
