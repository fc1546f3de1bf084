"""Where a layer stands: its place and the shape that comes to it while a spec is read, its trace while it runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from archcalc.archs.network.expression import Scope
from archcalc.core.errors import InputError, Path
from archcalc.core.ir import Dim, Tensor
from archcalc.spec.workload import Workload

if TYPE_CHECKING:
    from archcalc.archs.network.reader import Reader

SIDES = {0: (), 1: ("length",), 2: ("height", "width"), 3: ("depth", "height", "width")}


@dataclass(frozen=True)
class Shape:
    """Of one sample between two layers: channels, and the sides of the map, none for a vector.

    `Shape(64, (112, 112))`; a vector of 4,096 numbers is `Shape(4096)`.
    """

    channels: int
    sides: tuple[int, ...] = ()

    def __str__(self) -> str:
        return " × ".join(map(str, (self.channels, *self.sides)))

    @property
    def names(self) -> dict[str, int]:
        """What expressions in a spec may call its sizes."""
        return {"channels": self.channels, **dict(zip(SIDES[len(self.sides)], self.sides, strict=True))}

    @property
    def size(self) -> int:
        return prod((self.channels, *self.sides))


class Signal(NamedTuple):
    """An output that the spec gives a name: its shape, and where the name stands."""

    shape: Shape
    path: Path


@dataclass(frozen=True)
class Place:
    """Its path in the spec, the names of its block, the signals it may read, and how deep in blocks and lists it is."""

    path: Path
    reader: Reader  # of the layers inside
    scope: Scope = field(default_factory=dict)
    signals: dict[str, Signal] = field(default_factory=dict)
    blocks: int = 0
    lists: int = 0
    defaults: Path = ()  # where fields may stand that its own item does not have

    def below(self, *keys: str | int) -> Place:
        defaults = (*self.defaults, *keys) if self.defaults else ()
        return replace(self, path=(*self.path, *keys), defaults=defaults)

    def wrong(self, fact: str, hint: str = "", key: str | int | None = None) -> InputError:
        keys = () if key is None else (key,)
        return InputError(fact, hint, fields=self.paths(*keys))

    def paths(self, *keys: str | int) -> list[Path]:
        """Where a field may stand, likeliest first."""
        defaults = [(*self.defaults, *keys)] if self.defaults else []
        return [(*self.path, *keys), *defaults, self.path]


@dataclass
class Trace:
    """What layers share while their forward pass is recorded; `signals` are the tensors that the spec gives a name."""

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
