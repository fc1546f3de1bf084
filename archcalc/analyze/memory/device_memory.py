"""A training step on the device: what PyTorch's allocator reserves, simulated when it is asked for.

A step with very many ops, such as a recurrent net over a long sequence, is not simulated: only its tensors count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from archcalc.analyze.memory.states import FLAT, SHARDED
from archcalc.core.later import Later
from archcalc.simulate.reserved import DeviceMemory, reserved

if TYPE_CHECKING:
    from archcalc.analyze.memory.states import ParameterMemory
    from archcalc.simulate.events import Event

MOST_OPS = 40_000  # of an unrolled forward pass: more take several seconds


def on_device(
    parameters: ParameterMemory, step: Callable[[], list[Event]], allocator: str, first: Iterable[int] = ()
) -> Later[DeviceMemory]:
    """Two steps on top of weights and buffers; `first` are further blocks that are there from the start."""

    def play() -> DeviceMemory:
        start = [*_weights(parameters), *first]
        return reserved(start, list(_states(parameters)), step(), expandable=allocator == "expandable")

    return Later(play)


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
