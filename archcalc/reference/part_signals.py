"""What comes into a model of several parts, and what goes from one part to the next.

All are tensors whose first axis are samples: maps (samples, channels, sides), sequences (samples, positions, features),
vectors (samples, features) and ids (samples, positions). Where a sample has several, such as two images, each is a
sample of its own, until a part reads them beside something of which there is one.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from archcalc.reference import Config
from archcalc.reference.recurrent_layers import Made


@dataclass(frozen=True)
class Input:
    """`usual` is how many tokens there are where no length is asked for; `sides` are all axes of other inputs; `kept`
    is how many of a sample's positions stand beside tokens, where these are not all."""

    number: int
    is_ids: bool
    is_open: bool
    usual: int
    sides: tuple[Any, ...]
    kept: int

    @classmethod
    def of(cls, written: Config) -> "Input":
        shape, number = written["shape"], written["number"]
        if isinstance(shape, str):
            tokens, *_ = [*shape.split()[:-1], "1"]
            return cls(number, True, True, int(tokens), (), 0)
        return cls(number, False, "seq" in shape, 1, tuple(shape), written["kept"])

    def drawn(self, batch: int, length: int, rows: int, device: torch.device) -> Tensor:
        """Random ids, or numbers."""
        samples = batch * self.number
        if self.is_ids:
            return torch.randint(rows, (samples, length), device=device)
        sides = self.sides
        if self.is_open:  # positions stand before their features
            sides = (length, *(side for side in sides if side != "seq"))
        return torch.rand(samples, *sides, device=device)


@dataclass
class Signal:
    """`number` is how many of it a sample has, `kept` of an input's positions go into a sequence; `states` are those in
    which a recurrent part ends."""

    tensor: Tensor
    number: int = 1
    is_ids: bool = False
    states: Made | None = None
    kept: int = 0

    @property
    def samples(self) -> int:
        return self.tensor.shape[0] // self.number

    def as_positions(self, samples: int) -> Tensor:
        """Of one sequence for each of so many samples, and of those the first that are kept."""
        every = self.tensor.reshape(samples, -1, self.tensor.shape[-1])
        return every[:, : self.kept] if self.kept else every
