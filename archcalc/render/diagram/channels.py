"""The channels between rows, in which the horizontal pieces of wires run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

ARROW = 16.0  # straight down to an arrow's head
APART = 9.0  # between lines that run beside each other
START = 8.0
LABEL = 20.0
END = 4.0  # below the last row


@dataclass(eq=False)
class Run:
    """The horizontal piece of a wire: from its leftmost to its rightmost corner."""

    xs: list[float] = field(default_factory=list)
    y: float = 0.0


@dataclass(eq=False)
class Channel:
    """The room between two rows."""

    top: float = 0.0
    has_labels: bool = False
    runs: dict[Any, Run] = field(default_factory=dict)

    def run(self, key: Any) -> Run:
        return self.runs.setdefault(key, Run())

    def settle(self, *, is_last: bool, is_edge: bool) -> float:
        """Give every run its height, and return that of the channel: less below the last row, and where wires leave."""
        first = self.top + (LABEL if self.has_labels else START)
        levels: list[list[Run]] = []
        bent = (run for run in self.runs.values() if max(run.xs) - min(run.xs) >= 0.5)
        for run in sorted(bent, key=lambda run: min(run.xs)):
            level = next((level for level in levels if all(_apart(run, other) for other in level)), None)
            if level is None:
                levels.append(level := [])
            level.append(run)
        for index, level in enumerate(levels):
            for run in level:
                run.y = first + index * APART
        for run in self.runs.values():
            run.y = run.y or first
        if not levels and (is_last or is_edge):
            return LABEL * self.has_labels
        return first - self.top + max(0, len(levels) - 1) * APART + (END if is_last or is_edge else ARROW)


def _apart(one: Run, two: Run) -> bool:
    return max(one.xs) + APART < min(two.xs) or max(two.xs) + APART < min(one.xs)
