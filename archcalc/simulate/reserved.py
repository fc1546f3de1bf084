"""What PyTorch's caching allocator reserves over two training steps.

    device = reserved(start, states, step, expandable=False)
    device.tensors, device.allocated, device.reserved       at the peak of the second step; reserved so far

The first step begins with the weights alone; the optimizer's states come when it first updates them, behind the first
backward pass, so that the second step finds other pieces free than the first did. From then on every step is alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from archcalc.simulate.allocator import Allocator, Piece
from archcalc.simulate.events import Block, Change, Event, Stream

STEPS = 2


@dataclass(frozen=True)
class DeviceMemory:
    """Bytes of one device. `unused` is what is reserved and not allocated at the peak, by stream."""

    tensors: int  # as large as they are
    allocated: int  # rounded up
    reserved: int
    unused: dict[Stream, int]
    first_step: int  # reserved when the first backward pass is done, before there are optimizer states

    @property
    def rounding(self) -> int:
        return self.allocated - self.tensors


def reserved(start: Iterable[int], states: Sequence[int], step: Sequence[Event], *, expandable: bool) -> DeviceMemory:
    """`start` are the sizes of weights and buffers, `states` those of optimizer states, `step` the changes of one step,
    unrolled."""
    playing = _Playing(Allocator(expandable=expandable))
    for size in start:
        playing.allocator.malloc(size)
    changes = [one for one in step if isinstance(one, Change)]
    if len(changes) < len(step):
        raise ValueError("only an unrolled step can be played: of a loop it is not known what is freed")
    backward = next((place for place, one in enumerate(changes) if one.phase == "step"), len(changes))
    playing.play(changes[:backward])
    first = playing.allocator.reserved
    for size in states:
        playing.allocator.malloc(size)
    playing.play(changes[backward:])
    for _ in range(1, STEPS):
        playing.begin_step()
        playing.play(changes)
    on, used = playing.allocator.reserved_on, playing.allocated_on
    unused = {Stream(stream): size - used.get(stream, 0) for stream, size in on.items()}
    return DeviceMemory(playing.tensors, playing.allocated, playing.allocator.reserved, unused, first)


@dataclass
class _Playing:
    """An allocator, the pieces of the blocks that are there, and its peaks in this step."""

    allocator: Allocator
    there: dict[Block, Piece] = field(default_factory=dict)
    allocated: int = 0
    tensors: int = 0
    allocated_on: dict[int, int] = field(default_factory=dict)

    def begin_step(self) -> None:
        """What the last step left is freed: its inputs, and the loss that it returned."""
        for block in list(self.there):
            self.allocator.free(self.there.pop(block))
        self.allocated = self.tensors = 0
        self.allocated_on = {}

    def play(self, changes: Iterable[Change]) -> None:
        allocator, there = self.allocator, self.there
        for change in changes:
            size, block = change.bytes, change.block
            if size < 0:
                allocator.free(there.pop(block))
            elif size:
                there[block] = allocator.malloc(size, block.stream)
                if allocator.requested > self.tensors:
                    self.tensors = allocator.requested
                if allocator.allocated > self.allocated:
                    self.allocated, self.allocated_on = allocator.allocated, dict(allocator.allocated_on)
