"""The command that compares softmax attention with kernel attention."""

from __future__ import annotations

from archcalc.cli.options import Format, ModelName, Seq, Set, loaded, show


def kernel(
    model: ModelName = "textbook",
    seq: Seq = None,
    set: Set = [],
    format: Format = "table",
) -> None:
    """Softmax against kernel attention: the cost of each, and from which length on a kernel is cheaper."""
    show(loaded(model, set).kernel(seq=seq), format)
