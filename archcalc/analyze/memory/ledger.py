"""The record of a simulation: every change in bytes, with its part, phase and module."""

from __future__ import annotations

from collections.abc import Callable

from archcalc.analyze.memory.profile import Change, Happening, Repeated
from archcalc.core.ir import Module


class Ledger:
    """Changes in their order; `phase` and `module` say where the step has come to."""

    def __init__(self) -> None:
        self.changes: list[Happening] = []
        self.phase, self.module = "forward", Module("model")

    def change(self, part: str, number: int) -> None:
        """So many bytes more, or fewer."""
        if number:
            self.changes.append(Change(part, number, self.phase, self.module))

    def instant(self, part: str, number: int) -> None:
        """Allocated and freed immediately; recorded as an instant even if it is 0 bytes."""
        self.changes.append(Change(part, number, self.phase, self.module))
        self.change(part, -number)

    def for_a_moment(self, part: str, number: int) -> None:
        """Allocated and freed immediately."""
        self.change(part, number)
        self.change(part, -number)

    def at(self, phase: str, module: Module) -> None:
        self.phase, self.module = phase, module

    def repeated(self, play: Callable[[], None], times: int) -> None:
        """What `play` writes down happens `times` times in a row."""
        outer, self.changes = self.changes, []
        play()
        outer.append(Repeated(self.changes, times))
        self.changes = outer
