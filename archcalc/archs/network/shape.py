"""The shape of one sample between two layers: channels, and the sides of the map, none for a vector."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

SIDES = {0: (), 1: ("length",), 2: ("height", "width"), 3: ("depth", "height", "width")}


@dataclass(frozen=True)
class Shape:
    """`Shape(64, (112, 112))`; a vector of 4,096 numbers is `Shape(4096)`."""

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
