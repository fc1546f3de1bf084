"""The memory of each layer: its weights and what is kept for them, what its ops keep for the backward pass, its cache.

Every layer is counted in all its copies, on one GPU. Gradients stand here with all the rest, which at the fullest
instant of a step they need not do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from archcalc.analyze.memory import inference, training
from archcalc.analyze.memory.schedule import saved_cells
from archcalc.analyze.memory.states import KINDS, SHARDED
from archcalc.core.ir import Module

if TYPE_CHECKING:
    from archcalc.analyze.memory.answer import Memory
    from archcalc.spec.workload import Workload

OF_LAYERS = (*KINDS, "activations", "logits", "kv_cache", "state")


@dataclass(frozen=True)
class Row:
    """A layer in all its copies. `repeat` is how many there are; `parts` has a number for each kind of memory."""

    path: str
    title: str
    times: int
    repeat: int
    parts: dict[str, int]
    kind: str = "module"

    def __post_init__(self) -> None:
        if tuple(self.parts) != OF_LAYERS:
            raise ValueError(f"{self.path} has {', '.join(self.parts)}: a row has {', '.join(OF_LAYERS)}")

    @property
    def bytes(self) -> int:
        return sum(self.parts.values())

    @property
    def depth(self) -> int:
        return self.path.count(".")


Tally = dict[str, dict[str, int]]


def rows(root: Module, memory: Memory, work: Workload) -> tuple[Row, ...]:
    """A module before what it holds; last what ZeRO's flat buffers add."""
    tally: Tally = {}
    _add_states(tally, memory)
    if memory.case.trains:
        _add_saved(tally, root, memory)
    else:
        _add_cache(tally, memory, work)
    found = tuple(_rows(root, tally, 1))
    return (*found, *_rounding(found[0], memory))


def _add(tally: Tally, path: str, part: str, number: int) -> None:
    """To a layer, and to all that hold it."""
    while True:
        parts = tally.setdefault(path, dict.fromkeys(OF_LAYERS, 0))
        parts[part] += number
        if not path:
            return
        path = path.rpartition(".")[0]


def _add_states(tally: Tally, memory: Memory) -> None:
    plan = memory.case.plan
    shared = SHARDED[plan.zero] if plan.zero in (1, 2) else ()
    for one in memory.held:
        for kind in KINDS:
            number = getattr(one, kind)
            path = one.param.owner.path or one.param.name  # one of the model itself has a row of its own
            _add(tally, path, kind, number // plan.shards if kind in shared else number)


def _add_saved(tally: Tally, root: Module, memory: Memory) -> None:
    for one in saved_cells(training.nodes(memory, root)):
        _add(tally, one.module.path, "logits" if one.cell.is_logits else "activations", one.bytes)


def _add_cache(tally: Tally, memory: Memory, work: Workload) -> None:
    for one in inference.cache_after(memory, work):
        _add(tally, one.module.path, "kv_cache" if one.grows else "state", one.bytes)


def _rows(module: Module, tally: Tally, above: int) -> Iterator[Row]:
    parts = tally.get(module.path)
    if module.is_section or not parts or not any(parts.values()):
        return
    repeat = above * int(module.repeat)
    yield Row(module.path or "model", module.title, int(module.repeat), repeat, parts)
    if not module.path:
        yield from (Row(name, name, 1, 1, tally[name]) for name in module.params if name in tally)
    for child in module.children:
        yield from _rows(child, tally, repeat)


def _rounding(model: Row, memory: Memory) -> Iterator[Row]:
    """ZeRO-1 and -2 cut one flat buffer of everything: what does not come out even belongs to no layer."""
    if memory.case.plan.zero in (1, 2):
        sums = memory.states
        rest = dict.fromkeys(OF_LAYERS, 0)
        rest |= {kind: sums[kind] - model.parts[kind] for kind in SHARDED[memory.case.plan.zero]}
        yield Row("padding", "rounding and padding", 1, 1, rest, kind="padding")
