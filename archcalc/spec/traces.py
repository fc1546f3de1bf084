"""What a traced model is kept by: its workload, and the changes that were made to it.

Code that needs a modified tree (LoRA adapters, an fp32 loss, sequence parallelism) passes changes to `Network.build`.
"""

from __future__ import annotations

from typing import Any, Protocol

from archcalc.core.ir import Module
from archcalc.spec.workload import Workload

MOST = 8  # trees of one model that are kept, the latest ones


class Change(Protocol):
    """Changes a tree in place. Two that are equal change it alike."""

    def __call__(self, root: Module, /) -> None: ...
    def __hash__(self) -> int: ...


def sizes_of(work: Workload) -> tuple[Any, ...]:
    """What a tree depends on: all of a workload but its assumptions."""
    return work.batch, tuple(work.lengths.items()), work.mode, work.context, work.attention, work.style
