"""The record of a simulation: every allocation and every free, with its part, phase and module."""

from __future__ import annotations

from archcalc.core.ir import Module
from archcalc.simulate.events import Block, Change, Event, Repeated, Stream
from archcalc.simulate.nodes import Loop


class Ledger:
    """Events in their order; `phase`, `module`, `run` (of a block) and `number` (of an op) say where the step is."""

    def __init__(self) -> None:
        self.changes: list[Event] = []
        self.outer: list[list[Event]] = []  # of the loops that it is in
        self.phase, self.module, self.run, self.number = "forward", Module("model"), 0, -1

    def at(self, phase: str, module: Module, number: int = -1) -> None:
        self.phase, self.module, self.number = phase, module, number

    def allocate(self, part: str, size: int, stream: Stream = Stream.COMPUTE, what: object = None) -> Block:
        """A block of so many bytes; `what` is the tensor that it holds, for those who compare."""
        block = Block(part, size, stream, what)
        if size:
            self.changes.append(Change(part, size, self.phase, self.module, block, self.run, self.number))
        return block

    def free(self, *blocks: Block | None) -> None:
        """Nothing is there to free where nothing was allocated."""
        for block in blocks:
            if block and block.bytes:
                size, where = -block.bytes, (self.phase, self.module, block, self.run, self.number)
                self.changes.append(Change(block.part, size, *where))

    def for_a_moment(self, part: str, size: int) -> None:
        """Allocated and freed immediately."""
        self.free(self.allocate(part, size))

    def mark_phase(self) -> None:
        """A moment of its own in the timeline, even if nothing is allocated in it."""
        block = Block("temporary", 0)
        self.changes.append(Change("temporary", 0, self.phase, self.module, block, self.run, self.number))

    def cross(self, loop: Loop, *, begins: bool, is_reversed: bool = False) -> None:
        """What follows happens as often as the loop runs, until that ends."""
        if begins:
            self.outer.append(self.changes)
            self.changes = []
            return
        inside, self.changes = self.changes, self.outer.pop()
        if inside:
            self.changes.append(Repeated(inside, loop.times, loop, is_reversed))
