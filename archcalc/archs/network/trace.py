"""What the layers of a network share while their forward pass is recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from archcalc.archs.network.shape import SIDES
from archcalc.core.ir import Dim, Tensor
from archcalc.spec.workload import Workload


@dataclass
class Trace:
    """`signals` are the tensors that the spec gives a name."""

    work: Workload
    signals: dict[str, Tensor] = field(default_factory=dict)
    _number: Iterator[int] = field(default_factory=lambda: count(1))

    def channels(self, size: int, sides: int) -> Dim:
        """A new dim of channels; without sides, of a vector's features."""
        return Dim.of(f"{'channels' if sides else 'features'}_{next(self._number)}", size)

    def sides(self, before: tuple[Dim, ...], sizes: tuple[int, ...]) -> tuple[Dim, ...]:
        """The sides of the next map: those before it where the size has not changed."""
        if tuple(int(dim.size) for dim in before) == sizes:
            return before
        number = next(self._number)
        return tuple(Dim.of(f"{name}_{number}", size) for name, size in zip(SIDES[len(sizes)], sizes, strict=True))


def parts(x: Tensor) -> tuple[Dim, Dim, tuple[Dim, ...]]:
    """Batch, channels and sides of a map; of a vector, no sides."""
    batch, channels, *sides = x.dims
    return batch, channels, tuple(sides)
