"""A convolution along the sequence, as DeBERTa-v2 has one, in plain PyTorch."""

from typing import Any

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.layers import ACTIVATIONS, side_by_side


class Convolution(nn.Module):
    """act(conv(x)) over a position and as many before it as behind it; padding counts as zeros.

    Bundles of channels are convolved one by one: FlopCounterMode counts too much in the backward pass of `groups`.
    """

    def __init__(self, layer: Config, d_model: int) -> None:
        super().__init__()
        self.kernel, self.groups, self.act = layer["kernel"], layer["groups"], ACTIVATIONS[layer["act"]]
        into = d_model // self.groups
        self.weight = nn.Parameter(torch.empty(d_model, into, self.kernel).normal_(std=(into * self.kernel) ** -0.5))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Tensor, given: dict[str, Tensor], cache: Any = None) -> Tensor:
        padding = given.get("own padding")
        if padding is not None:
            x = x.masked_fill(padding[:, 0].mT, 0.0)
        bundles = x.mT.chunk(self.groups, dim=1), self.weight.chunk(self.groups), self.bias.chunk(self.groups)
        found = [nn.functional.conv1d(*bundle, padding=self.kernel // 2) for bundle in zip(*bundles, strict=True)]
        return self.act(side_by_side(found, dim=1)).mT
