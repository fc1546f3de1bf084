"""Convolutions whose filters are not shared: a matrix product for each place."""

import math

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.layers import weight_if
from archcalc.reference.maps import Behind, Build, Signals, padded, zeros_of


class LocalConv(Behind):
    """Its parameters are as large as the map that comes out, whose size is worked out of the one that comes in."""

    def __init__(self, config: Config, build: Build) -> None:
        super().__init__(config, build)
        self.config, sides = config, config["sides"]
        inside = config["into"] * math.prod(config["kernel"])
        self.weight = nn.Parameter(torch.empty(math.prod(sides), inside, config["out"]))
        self.bias = weight_if(config["bias"], config["out"], *sides)
        nn.init.normal_(self.weight, std=inside**-0.5)

    def forward(self, x: Tensor, signals: Signals) -> Tensor:
        c, places, number = self.config, self.config["sides"], len(self.config["sides"])
        zeros = zeros_of(c, x)
        if any(before or after for before, after in zeros):
            x = padded(x, zeros)
        for side, (kernel, stride) in enumerate(zip(c["kernel"], c["stride"], strict=True), start=2):
            x = x.unfold(side, kernel, stride)
        placed = x.permute(*range(2, 2 + number), 0, 1, *range(2 + number, x.dim()))
        rows = placed.clone(memory_format=torch.contiguous_format).flatten(number + 1).flatten(0, number - 1)
        found = torch.bmm(rows, self.weight).permute(1, 2, 0).clone(memory_format=torch.contiguous_format)
        found = found.unflatten(2, places)
        if self.bias is not None:
            found = found + self.bias
        return self.finish(found)
