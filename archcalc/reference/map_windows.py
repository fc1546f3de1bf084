"""Windows of a map, as Swin has them."""

import math

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.attention_layers import ACROSS_ENDS
from archcalc.reference.maps import Build, Signals


class Windows(nn.Module):
    """A map cut into windows, each a sample of its own, and put together again; moved round its ends before."""

    def __init__(self, config: Config, build: Build) -> None:
        super().__init__()
        self.size, self.shift = config["size"], config["shift"]
        self.layers = build(config["layers"])

    def forward(self, x: Tensor, signals: Signals) -> Tensor:
        sides = list(range(2, x.dim()))
        number = [side // size for side, size in zip(x.shape[2:], self.size, strict=True)]
        known: Signals = {}
        if self.shift:
            x = x.roll([-self.shift] * len(sides), sides)
            known = {ACROSS_ENDS: self._across_ends(x, number)}
        found = self.layers(self._cut(x, number), known)
        together = found.reshape(x.shape[0], *number, *self.size, found.shape[2])
        pairs = [axis for side in range(len(sides)) for axis in (1 + side, 1 + len(sides) + side)]
        found = together.permute(0, -1, *pairs).reshape(x.shape[0], found.shape[2], *x.shape[2:]).contiguous()
        if self.shift:
            return found.roll([self.shift] * len(sides), sides)
        return found

    def _cut(self, x: Tensor, number: list[int]) -> Tensor:
        """(samples · windows, places of a window, channels)."""
        pairs = [size for pair in zip(number, self.size, strict=True) for size in pair]
        apart = x.reshape(*x.shape[:2], *pairs)
        first = range(2, apart.dim(), 2)
        placed = apart.permute(0, *first, *(axis + 1 for axis in first), 1)
        return placed.reshape(x.shape[0] * math.prod(number), math.prod(self.size), x.shape[1]).contiguous()

    def _across_ends(self, x: Tensor, number: list[int]) -> Tensor:
        """True where a place came from another end than the one that looks at it: (samples · windows, 1, places,
        places)."""
        regions = torch.zeros(x.shape[2:], dtype=torch.long, device=x.device)
        for axis, (side, size) in enumerate(zip(x.shape[2:], self.size, strict=True)):
            places = torch.arange(side, device=x.device)
            region = (places >= side - size).long() + (places >= side - self.shift).long()
            regions = 3 * regions + region.view([-1 if other == axis else 1 for other in range(len(self.size))])
        each = self._cut(regions[None, None], number)[:, :, 0]
        return (each[:, None, :] != each[:, :, None]).repeat(x.shape[0], 1, 1)[:, None]
