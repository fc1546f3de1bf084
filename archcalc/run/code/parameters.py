"""Where a library's parameters are others than a spec's: changes to the traced model, in front of adapters."""

from __future__ import annotations

from collections.abc import Iterator

from archcalc.run.code import fused, routers
from archcalc.run.code.habits import Habits
from archcalc.run.code.untied import untie_head
from archcalc.spec.traces import Change


def own_parameters(habits: Habits) -> Iterator[Change]:
    """A head of its own; one matrix for queries, keys and values, and for gate and up; a router of its own kind."""
    if habits.tied == "never":
        yield untie_head
    if habits.qkv in fused.WAYS:
        yield fused.WAYS[habits.qkv]
    if habits.gate_up == "split":
        yield fused.split_gates
    if habits.experts == "grouped":
        yield routers.keep_bare
