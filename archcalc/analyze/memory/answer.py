"""Peak memory of a model on each GPU, by part and by layer.

    Memory(model, mode="train", optimizer="adamw").at(batch=8, seq=4096).total_bytes

`Memory` checks the options once and is cheap to ask at many sizes; `total` gives the number alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

from archcalc.analyze.memory.deployment import deploy
from archcalc.analyze.memory.peak import peak
from archcalc.analyze.memory.report import EVERY_DEPTH, USUAL_DEPTH, MemoryReport
from archcalc.analyze.memory.reporting import report
from archcalc.network import Network
from archcalc.run.keywords import MemoryKeywords
from archcalc.run.options import Options
from archcalc.spec.option_checks import checked
from archcalc.spec.sizes import Sizes


class Memory:
    """The memory of a model under one set of options, at any batch and length."""

    def __init__(self, model: Network, options: Options | None = None, **keywords: Unpack[MemoryKeywords]) -> None:
        self.deployment = deploy(model, options or Options.of("memory", keywords))

    @checked
    def at(
        self,
        batch: int | None = None,
        seq: int | None = None,
        *,
        src_seq: int | None = None,
        tgt_seq: int | None = None,
        context: int | None = None,
        depth: int | None = None,
        timeline: bool = False,
    ) -> MemoryReport:
        """The full report; sizes not given come from the spec. `depth` and `timeline` choose what is shown."""
        sizes = Sizes(batch, seq, src_seq, tgt_seq, context)
        return report(self.deployment, sizes, depth=depth, timeline=timeline)

    @checked
    def total(
        self,
        batch: int | None = None,
        seq: int | None = None,
        *,
        src_seq: int | None = None,
        tgt_seq: int | None = None,
        context: int | None = None,
    ) -> int:
        """The bytes alone."""
        return peak(self.deployment, Sizes(batch, seq, src_seq, tgt_seq, context)).bytes


def memory(model: Network, options: Options, *, depth: int | None = None, timeline: bool = False) -> MemoryReport:
    """One answer; `Memory` is for many. A model without a sequence is shown down to its layers."""
    from archcalc.analyze.placement import on_named_device

    depth = depth or (USUAL_DEPTH if model.resolved.lengths else EVERY_DEPTH)
    placed = on_named_device(model, options)
    deployment = deploy(model, placed)
    found = report(deployment, options.sizes, depth=depth, timeline=timeline)
    if not options.measured:
        return found
    from archcalc.analyze.memory.measured import against

    compared = against(deployment, options.sizes, found, options.measured)
    applied = deploy(model, compared.applied(placed))
    return replace(report(applied, options.sizes, depth=depth, timeline=timeline), measured=compared)
