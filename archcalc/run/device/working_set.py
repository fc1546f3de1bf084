"""Unified memory: how much of it a GPU may hold, by rules that are data (`presets/working_sets`)."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict

from archcalc.core.errors import InputError, did_you_mean
from archcalc.run.device.sizes import Bytes
from archcalc.spec import paths
from archcalc.spec.data_files import node
from archcalc.spec.node import Node, mistake, shown
from archcalc.spec.units import binary_bytes

KIND = "working_sets"


def _fraction(value: Any) -> Fraction:
    """`2/3`, of everything at most."""
    try:
        share = Fraction(value)
    except (ValueError, ZeroDivisionError, TypeError):
        share = Fraction(0)
    if not 0 < share <= 1:
        raise mistake(f"expected a share such as 3/4, found {shown(value)}")
    return share


class Step(Node):
    """The share of the memory that is usable, for machines with this much memory or more."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    memory: Bytes
    share: Annotated[Fraction, BeforeValidator(_fraction)]


class System(Node):
    """A version of the system software, or a way to set it up."""

    name: str
    steps: list[Step]

    def usable(self, memory: int) -> int:
        reached = [step for step in self.steps if step.memory <= memory]
        return ceil(memory * (reached or self.steps)[-1].share)


class Rule(Node):
    """How much of its memory a device may use. The first system is assumed."""

    name: str
    raised_by: str
    systems: list[System]
    sources: list[str]

    def usable(self, memory: int) -> int:
        return self.systems[0].usable(memory)

    def told(self, memory: int) -> str:
        """The figure, what is assumed for it, and what other systems would give."""
        first, *others = self.systems
        named = [first.name, *(f"{other.name}: {binary_bytes(other.usable(memory))}" for other in others)]
        figure = f"{binary_bytes(first.usable(memory))} of {binary_bytes(memory)}"
        return f"{figure}, {self.name} ({'; '.join(named)}); {self.raised_by} raises it"


def rule(name: str) -> Rule:
    """The rule of that name."""
    files = paths.presets(KIND)
    if name not in files:
        raise InputError(f"no rule is called {name}", did_you_mean(name, files), field="memory.working_set")
    return node(files[name], Rule)
