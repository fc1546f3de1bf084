"""What somebody's run took beside what is counted, as a report shows it; `measured.py` makes it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from archcalc.spec.option import flag_of
from archcalc.spec.units import binary_bytes

if TYPE_CHECKING:
    from archcalc.run.options import Options

DRIVER = "nvidia-smi"
WORDS = {DRIVER: DRIVER, "allocated": "max_memory_allocated", "reserved": "max_memory_reserved"}  # PyTorch's two


class Other(NamedTuple):
    """The options that are another way of running it, and what that takes."""

    options: dict[str, Any]
    bytes: int

    @property
    def flags(self) -> str:
        """`--recompute full --optimizer adam8bit`."""
        return " ".join(f"{flag_of(name)} {value}" for name, value in self.options.items())


@dataclass(frozen=True)
class Compared:
    """A measured run beside the same figure as it is counted. `fills` is the engine that fills a device."""

    by: str  # nvidia-smi, or PyTorch: allocated, reserved
    bytes: int
    counted: int
    likely: tuple[str, ...]  # what is as large as the difference, whatever the run is
    others: tuple[Other, ...] = ()  # other ways of running it that take as much
    fills: str = ""

    @property
    def difference(self) -> int:
        return self.bytes - self.counted

    @property
    def shift(self) -> int:
        """What is left of the difference; a device that is filled says nothing about the model."""
        if self.fills:
            return 0
        return self.bytes - self._taken.bytes

    @property
    def _taken(self) -> Other:
        """The run that the rest is worked out with: the nearest of the others, or the one that was asked for."""
        return next(iter(self.others), Other({}, self.counted))

    def applied(self, options: Options) -> Options:
        return replace(options, shift=self.shift, **self._taken.options)

    def lines(self) -> list[str]:
        first = f"measured: {binary_bytes(self.bytes)} by {WORDS[self.by]}"
        if self.fills:
            return [f"{first}, which says nothing about the model: {self.fills}"]
        if not self.difference:
            return [f"{first}, as it is counted"]
        more = "more" if self.difference > 0 else "less"
        said = f"{first}, {binary_bytes(abs(self.difference))} {more} than the {binary_bytes(self.counted)} counted"
        if self.others:
            taken, *rest = (f"{one.flags} takes {binary_bytes(one.bytes)}" for one in self.others)
            return [f"{said}; {taken}, with which the rest is worked out{''.join(f'; {one}' for one in rest)}"]
        return [f"{said}; {', or '.join(self.likely) or 'nothing that is known here explains it'}"]

    def record(self) -> dict[str, Any]:
        """As programs read it."""
        others = [{"options": one.options, "counted_bytes": one.bytes} for one in self.others]
        found = {"by": self.by, "bytes": self.bytes, "counted_bytes": self.counted, "others": others}
        return {**found, "difference_bytes": self.difference, "shift_bytes": self.shift, "likely": list(self.likely)}
