"""A training step on the device: what PyTorch's allocator reserves.

A step with very many ops, such as a recurrent net over a long sequence, is not simulated: only its tensors count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from archcalc.analyze.memory.states import FLAT, SHARDED, ParameterMemory
from archcalc.simulate.events import Event
from archcalc.simulate.reserved import DeviceMemory, reserved

MOST_OPS = 40_000  # of an unrolled forward pass: more take several seconds


def on_device(
    parameters: ParameterMemory, step: Sequence[Event], allocator: str, first: Iterable[int] = ()
) -> DeviceMemory:
    """Two unrolled steps on top of weights and buffers; `first` are further blocks that are there from the start."""
    buffers = [parameters.buffers] if parameters.buffers else []
    start = [*_blocks(parameters, "weights"), *_blocks(parameters, "master"), *buffers, *first]
    halves = [half for size in _blocks(parameters, "optimizer") for half in (size - size // 2, size // 2)]
    return reserved(start, halves, step, expandable=allocator == "expandable")  # most optimizers keep two states


def _blocks(parameters: ParameterMemory, kind: str) -> Iterator[int]:
    """One for each copy of each parameter, or one flat buffer of all, where ZeRO-1 or -2 divides such."""
    if parameters.plan.zero in FLAT and kind in SHARDED[parameters.plan.zero]:
        yield parameters.states[kind]
        return
    for held in parameters.held:
        size = getattr(held, kind) // held.copies
        yield from (size for _ in range(held.copies) if size)
