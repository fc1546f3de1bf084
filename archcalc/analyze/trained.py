"""Which parameters are trained: as the spec says, LoRA's adapters alone, or all but frozen layers."""

from __future__ import annotations

from dataclasses import dataclass, field

from archcalc.core.assumptions import Assumption
from archcalc.core.count import Count
from archcalc.core.execution import Trainable, by_spec


@dataclass(frozen=True)
class Trained:
    """`words` stand in a title: `LoRA r8 on q, v`."""

    of: Trainable = by_spec
    adapters: Count = field(default_factory=lambda: Count(0))
    words: str = ""
    notes: tuple[Assumption, ...] = ()


AS_SPECIFIED = Trained()
