"""The record of a simulation: every allocation and every free, with its part, phase and module."""

from __future__ import annotations

from collections.abc import Callable

from archcalc.analyze.memory.profile import Block, Change, Happening, Repeated, Stream
from archcalc.core.ir import Module


class Ledger:
    """Changes in their order; `phase`, `module`, `run` (of a block) and `number` (of an op) say where the step is."""

    def __init__(self) -> None:
        self.changes: list[Happening] = []
        self.phase, self.module, self.run, self.number = "forward", Module("model"), 0, -1

    def allocate(self, part: str, size: int, stream: Stream = Stream.COMPUTE, what: object = None) -> Block:
        """A block of so many bytes; `what` is the tensor that it holds, for those who compare."""
        block = Block(part, size, stream, what)
        if size:
            self._write(block, size)
        return block

    def free(self, block: Block | None) -> None:
        """Nothing is there to free where nothing was allocated."""
        if block and block.bytes:
            self._write(block, -block.bytes)

    def for_a_moment(self, part: str, size: int) -> None:
        """Allocated and freed immediately."""
        self.free(self.allocate(part, size))

    def instant(self) -> None:
        """A moment of its own in the timeline, even if nothing is allocated in it."""
        self._write(Block("temporary", 0), 0)

    def at(self, phase: str, module: Module, number: int = -1) -> None:
        self.phase, self.module, self.number = phase, module, number

    def repeated(self, play: Callable[[], None], times: int) -> None:
        """What `play` writes down happens `times` times in a row."""
        outer, self.changes = self.changes, []
        play()
        outer.append(Repeated(self.changes, times))
        self.changes = outer

    def _write(self, block: Block, size: int) -> None:
        self.changes.append(Change(block.part, size, self.phase, self.module, block, self.run, self.number))
