"""A cache of traced models: one report needs the same few trees dozens of times.

A cached tree is shared and must not be modified. Code that needs a modified one (LoRA adapters, an fp32 loss,
sequence parallelism) passes the changes, and gets a tree of its own, which is cached as well.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Protocol

from archcalc.core.ir import Module
from archcalc.spec.workload import Workload

MOST = 8  # trees of one model that are kept, the latest ones


class Change(Protocol):
    """Changes a tree in place. Two that are equal change it alike."""

    def __call__(self, root: Module, /) -> None: ...
    def __hash__(self) -> int: ...


class Traces:
    """The trees of one model, by what was traced and what was changed."""

    def __init__(self, trace: Callable[[Workload], Module]) -> None:
        self._trace = trace
        self._kept: dict[Hashable, Module] = {}

    def of(self, work: Workload, changes: tuple[Change, ...] = ()) -> Module:
        key = (sizes_of(work), changes)
        found = self._kept.pop(key, None) or self._changed(work, changes)
        self._kept[key] = found
        if len(self._kept) > MOST:
            del self._kept[next(iter(self._kept))]
        return found

    def _changed(self, work: Workload, changes: tuple[Change, ...]) -> Module:
        root = self._trace(work)
        for change in changes:
            change(root)
        return root


def sizes_of(work: Workload) -> tuple[Any, ...]:
    """What a tree depends on: all of a workload but its assumptions."""
    return work.batch, tuple(work.lengths.items()), work.mode, work.context, work.attention, work.style
