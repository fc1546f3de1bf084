"""What happens to memory in a step: blocks that are allocated and freed, one by one or many times in a row, and the
ledger that records them in their order."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from archcalc.core.ir import Module, Tensor
from archcalc.simulate.nodes import Loop


class Stream(IntEnum):
    """The CUDA stream that a block is allocated on. The allocator lends no memory from one to another."""

    COMPUTE = 0
    ALL_GATHER = 1
    REDUCE_SCATTER = 2


@dataclass(eq=False, slots=True)
class Block:
    """One allocation: the storage of a tensor, or a buffer. `what` is the tensor, where there is one; `use` says what
    else it is (a gradient, a copy), and `of` which tensor. Several tensors may share it, as gradients do: the last of
    its `users` frees it."""

    part: str
    bytes: int
    stream: Stream = Stream.COMPUTE
    what: object = None
    use: str = ""
    of: Tensor | None = None
    users: int = 1


class Change(NamedTuple):
    """A block allocated, or (fewer bytes) freed."""

    part: str
    bytes: int
    phase: str
    module: Module
    block: Block
    run: int = 0  # which run of a repeated block it belongs to, by the number of its first op
    number: int = -1  # of the op that runs; -1: none


@dataclass(frozen=True)
class Repeated:
    """Events that happen `times` times in a row: those of a loop of the schedule, its last run first if reversed."""

    changes: list[Event]
    times: int
    loop: Loop | None = None
    is_reversed: bool = False


Event = Change | Repeated


@dataclass
class Ledger:
    """Events in their order; `phase`, `module`, `run` (of a block) and `number` (of an op) say where the step is."""

    phase: str = "forward"
    module: Module = field(default_factory=lambda: Module("model"))
    run: int = 0
    number: int = -1
    changes: list[Event] = field(default_factory=list)
    outer: list[list[Event]] = field(default_factory=list)  # of the loops that it is in

    def at(self, phase: str, module: Module, number: int = -1) -> None:
        self.phase, self.module, self.number = phase, module, number

    def allocate(
        self,
        part: str,
        size: int,
        use: str = "",
        of: Tensor | None = None,
        *,
        stream: Stream = Stream.COMPUTE,
        what: object = None,
    ) -> Block:
        """A block of so many bytes; `what` is the tensor that it holds, for those who compare, `use` and `of` what it
        is for those who read."""
        block = Block(part, size, stream, what, use, of)
        if size:
            self.changes.append(Change(part, size, self.phase, self.module, block, self.run, self.number))
        return block

    def free(self, *blocks: Block | None) -> None:
        """For one of the users of each; nothing is there to free where nothing was allocated."""
        for block in blocks:
            if block:
                block.users -= 1
                if block.bytes and not block.users:
                    size, where = -block.bytes, (self.phase, self.module, block, self.run, self.number)
                    self.changes.append(Change(block.part, size, *where))

    def for_a_moment(self, part: str, size: int, use: str, of: Tensor | None = None) -> None:
        """Allocated and freed immediately."""
        if size:
            self.free(self.allocate(part, size, use, of))

    def cross(self, loop: Loop, *, begins: bool, is_reversed: bool = False) -> None:
        """What follows happens as often as the loop runs, until that ends."""
        if begins:
            self.outer.append(self.changes)
            self.changes = []
            return
        inside, self.changes = self.changes, self.outer.pop()
        if inside:
            self.changes.append(Repeated(inside, loop.times, loop, is_reversed))
