"""What a chart shows: figures of `archcalc params`, `flops` and `memory`, each by the name that `--y` takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from archcalc.analyze.memory.report import PARTS
from archcalc.core.errors import InputError, did_you_mean
from archcalc.spec.option_checks import names

Number = int | float
Kind = Literal["count", "flops", "bytes"]
MEMORY = "memory"  # the measure that a device's memory is compared with


@dataclass(frozen=True)
class Measure:
    """`parts` are the figures of its command that it sums up."""

    name: str
    title: str
    command: str
    unit: Kind
    parts: tuple[str, ...]

    @property
    def is_part_of_memory(self) -> bool:
        """Bytes of one kind, as opposed to all that a device has to hold."""
        return self.unit == "bytes" and self.name != MEMORY


OWN = (
    Measure(MEMORY, "memory", "memory", "bytes", ("required",)),
    Measure("cache", "cache", "memory", "bytes", ("kv_cache", "state")),
    Measure("params", "parameters", "params", "count", ("params",)),
    Measure("active", "active parameters", "params", "count", ("active",)),
    Measure("flops", "FLOPs", "flops", "flops", ("flops",)),
    Measure("flops-per-token", "FLOPs per token", "flops", "flops", ("per_token",)),
)
OF_PARTS = tuple(Measure(part.replace("_", "-"), title, "memory", "bytes", (part,)) for part, title in PARTS.items())
MEASURES = {one.name: one for one in (*OWN, *OF_PARTS)}
USUAL = MEMORY


def measures(written: str | Sequence[str]) -> tuple[Measure, ...]:
    """`memory,cache`, or a list of such names."""
    found = {}
    for name in names(written, "--y") or (USUAL,):
        known = name.lower().replace("_", "-")
        if known not in MEASURES:
            raise InputError(f"nothing to draw is called {name}", did_you_mean(known, MEASURES), field="--y")
        found[known] = MEASURES[known]
    return tuple(found.values())
