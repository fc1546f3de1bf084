"""Layer, output shape, parameters and FLOPs side by side."""

from __future__ import annotations

from archcalc.cli.help import COUNT, Help
from archcalc.cli.options import Batch, Depth, Format, Like, ModelName, Notes, Seq, Set, SrcSeq, TgtSeq, loaded, show

EXAMPLES = {
    "summary resnet-50": "layers, output shapes, parameters and FLOPs",
    "summary gpt2 --batch 8 --seq 512": "at these sizes",
    "summary textbook --depth 1": "only the large parts",
}
HELP = Help(COUNT, EXAMPLES, place=2)


def summary(
    model: ModelName = "textbook",
    *,
    set: Set = [],
    like: Like = None,
    batch: Batch = None,
    seq: Seq = None,
    src_seq: SrcSeq = None,
    tgt_seq: TgtSeq = None,
    depth: Depth = None,
    format: Format = "table",
    notes: Notes = False,
) -> None:
    """Each layer with its output shape, parameters and FLOPs: what torchinfo prints of a module, equal layers once."""
    sizes = {"batch": batch, "seq": seq, "src_seq": src_seq, "tgt_seq": tgt_seq}
    show(loaded(model, set, like=like).summary(**sizes, depth=depth), format, notes=notes)
