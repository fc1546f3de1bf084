"""What PyTorch's caching allocator reserves over two training steps.

    device = reserved(start, states, step, expandable=False)
    device.tensors, device.allocated, device.reserved       at the peak of the second step; reserved so far

The first step begins with the weights alone; the optimizer's states come when it first updates them, behind the first
backward pass, so that the second step finds other pieces free than the first did. From then on every step is alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from archcalc.simulate.allocator import Allocator, Piece
from archcalc.simulate.events import Block, Change, Event, Stream


@dataclass(frozen=True)
class DeviceMemory:
    """Bytes of one device. `unused` is what is reserved and not allocated at the peak, by stream."""

    tensors: int  # as large as they are
    allocated: int  # rounded up
    reserved: int
    unused: dict[Stream, int]
    first_step: int  # reserved when the first backward pass is done, before there are optimizer states


def reserved(start: Iterable[int], states: Sequence[int], step: Sequence[Event], *, expandable: bool) -> DeviceMemory:
    """`start` are the sizes of weights and buffers, `states` those of optimizer states, `step` the changes of one step,
    unrolled."""
    allocator = Allocator(expandable)
    for size in start:
        allocator.malloc(size)
    changes = [one for one in step if isinstance(one, Change)]
    if len(changes) < len(step):
        raise ValueError("only an unrolled step can be played: of a loop it is not known what is freed")
    backward = next((place for place, one in enumerate(changes) if one.phase == "step"), len(changes))
    there: dict[Block, Piece] = {}
    _play(allocator, there, changes[:backward])
    first = allocator.reserved
    for size in states:
        allocator.malloc(size)
    _play(allocator, there, changes[backward:])
    for piece in there.values():  # what the first step left is freed: its inputs, and the loss that it returned
        allocator.free(piece)
    tensors, allocated, used = _play(allocator, {}, changes)
    unused = {Stream(stream): size - used.get(stream, 0) for stream, size in allocator.reserved_on.items()}
    return DeviceMemory(tensors, allocated, allocator.reserved, unused, first)


def _play(
    allocator: Allocator, there: dict[Block, Piece], changes: Iterable[Change]
) -> tuple[int, int, dict[int, int]]:
    """The peaks of what is asked for and of what is allocated, and that by stream; `there` are the pieces of the blocks
    that are there."""
    tensors, allocated, allocated_on = 0, 0, dict[int, int]()
    for change in changes:
        size, block = change.bytes, change.block
        if size < 0:
            allocator.free(there.pop(block))
        elif size:
            there[block] = allocator.malloc(size, block.stream)
            tensors = max(tensors, allocator.requested)
            if allocator.allocated > allocated:
                allocated, allocated_on = allocator.allocated, dict(allocator.allocated_on)
    return tensors, allocated, allocated_on
