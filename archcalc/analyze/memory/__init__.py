"""Memory of a step: a schedule of its ops, passes over the schedule, its simulation, and the profile over time.

    from archcalc.analyze.memory import Memory      one set of options, asked at many sizes

`Memory` is loaded on first use: whoever wants the schedule alone need not load the whole answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from archcalc.analyze.memory.answer import Memory

__all__ = ["Memory"]


def __getattr__(name: str) -> Any:
    if name != "Memory":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from archcalc.analyze.memory.answer import Memory

    return Memory
