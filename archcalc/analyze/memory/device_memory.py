"""A training step on the device: what PyTorch's allocator reserves, simulated when it is asked for.

A step with very many ops, such as a recurrent net over a long sequence, is not simulated: only its tensors count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from archcalc.analyze.memory.reserved import DeviceMemory, reserved
from archcalc.analyze.memory.schedule import Loop, Node, Step
from archcalc.analyze.memory.states import FLAT, SHARDED
from archcalc.core.later import Later

if TYPE_CHECKING:
    from archcalc.analyze.memory.profile import Happening
    from archcalc.analyze.memory.states import ParameterMemory

MOST_OPS = 40_000  # of an unrolled forward pass: more take several seconds


def on_device(
    parameters: ParameterMemory, step: Callable[[], list[Happening]], allocator: str, first: Iterable[int] = ()
) -> Later[DeviceMemory]:
    """Two steps on top of weights and buffers; `first` are further blocks that are there from the start."""

    def play() -> DeviceMemory:
        start = [*_weights(parameters), *first]
        return reserved(start, list(_states(parameters)), step(), expandable=allocator == "expandable")

    return Later(play)


def ops_in(nodes: Iterable[Node]) -> int:
    """How many ops run in a forward pass."""
    return sum(1 if isinstance(node, Step) else _times(node) * ops_in(node.body) for node in nodes)


def _times(node: Node) -> int:
    return node.times if isinstance(node, Loop) else 1


def _weights(parameters: ParameterMemory) -> Iterator[int]:
    """A block for each copy of each parameter, and of its master weights."""
    yield from _blocks(parameters, "weights")
    yield from _blocks(parameters, "master")
    if parameters.buffers:
        yield parameters.buffers


def _states(parameters: ParameterMemory) -> Iterator[int]:
    """Each parameter's optimizer states as two blocks, of which most optimizers keep two."""
    for size in _blocks(parameters, "optimizer"):
        yield from (size - size // 2, size // 2)


def _blocks(parameters: ParameterMemory, kind: str) -> Iterator[int]:
    """One for each copy of each parameter, or one flat buffer of all, where ZeRO-1 or -2 divides such."""
    if parameters.plan.zero in FLAT and kind in SHARDED[parameters.plan.zero]:
        yield parameters.states[kind]
        return
    for held in parameters.held:
        size = getattr(held, kind) // held.copies
        yield from (size for _ in range(held.copies) if size)
