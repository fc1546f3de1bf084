"""The shape of every tensor in the forward pass."""

from __future__ import annotations

from typing import Annotated

from archcalc.cli.help import COUNT, OUTPUT, Help
from archcalc.cli.options import Batch, Depth, Format, Like, ModelName, Notes, Seq, Set, SrcSeq, TgtSeq, loaded, show

EXAMPLES = {
    "shapes textbook --batch 2 --seq 10": "the shape of every tensor, at these sizes",
    "shapes gpt2 --symbolic": "which dims does each tensor have, by name?",
    "shapes vgg-16 --parameters": "and which shapes do the weights have?",
}
HELP = Help(COUNT, EXAMPLES, place=3)


def shapes(
    model: ModelName = "textbook",
    batch: Batch = None,
    seq: Seq = None,
    src_seq: SrcSeq = None,
    tgt_seq: TgtSeq = None,
    set: Set = [],
    like: Like = None,
    symbolic: Annotated[bool, OUTPUT.option("--symbolic", help="Names of dims instead of sizes.")] = False,
    parameters: Annotated[bool, OUTPUT.option("--parameters", help="Show the shapes of parameters too.")] = False,
    explain: Annotated[
        bool,
        OUTPUT.option(
            "--explain",
            help="Show the equations of recurrent layers, and who writes them otherwise.",
        ),
    ] = False,
    depth: Depth = None,
    format: Format = "table",
    notes: Notes = False,
) -> None:
    """The shape of every tensor in the forward pass."""
    chosen = loaded(model, set, like=like)
    sizes = {"batch": batch, "seq": seq, "src_seq": src_seq, "tgt_seq": tgt_seq}
    show(
        chosen.shapes(**sizes, symbolic=symbolic, parameters=parameters, explain=explain, depth=depth),
        format,
        notes=notes,
    )
