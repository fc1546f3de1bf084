"""Branches that are joined or multiplied, and the tensors that a branch may begin with."""

import math
from functools import reduce
from typing import Any

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.maps import Build, Signals, channels_of

CONSTANTS: dict[str, Any] = {"zeros": torch.zeros, "ones": torch.ones, "identity": torch.eye}
ELEMENT_BY_ELEMENT: dict[str, Any] = {"add": torch.add, "subtract": torch.sub, "multiply": torch.mul}


class Branches(nn.Module):
    """Lists of layers, or earlier layers by their names."""

    def __init__(self, config: Config, build: Build) -> None:
        super().__init__()
        self.branches = [(branch["name"], branch["layers"]["start"]) for branch in config["branches"]]
        for branch in config["branches"]:
            if branch["layers"]["steps"]:
                self.add_module(branch["name"], build({**branch["layers"], "type": "sequence"}))

    def given(self, x: Tensor, signals: Signals) -> list[Tensor]:
        """What each of them gives."""
        found = []
        for name, start in self.branches:
            layers = self._modules.get(name)
            found.append(signals.get(start, x) if layers is None else layers(x, signals))
        return found


class Join(Branches):
    def __init__(self, config: Config, build: Build) -> None:
        super().__init__(config, build)
        self.how, self.channels, self.crop = config["how"], channels_of(config), config["crop"]
        behind_channels = {True: 0, False: 1}[config["is_sequence"]]
        self.axis = config["axis"] + behind_channels if config["axis"] else self.channels

    def forward(self, x: Tensor, signals: Signals) -> Tensor:
        found = self.given(x, signals)
        if self.crop:
            found = self._cropped(found)
        if self.how == "concat":
            longest = max(each.dim() for each in found)
            return torch.cat([each if each.dim() == longest else each[:, None] for each in found], dim=self.axis)
        return reduce(ELEMENT_BY_ELEMENT[self.how], found)

    def _cropped(self, maps: list[Tensor]) -> list[Tensor]:
        """The centre of each, as large as the smallest."""
        return _cropped(maps, range(2, maps[0].dim()) if self.channels == 1 else range(1, 2))


def _cropped(maps: list[Tensor], sides: range) -> list[Tensor]:
    for axis in sides:
        size = min(each.shape[axis] for each in maps)
        maps = [each.narrow(axis, (each.shape[axis] - size) // 2, size) for each in maps]
    return maps


class Matmul(Branches):
    def __init__(self, config: Config, build: Build) -> None:
        super().__init__(config, build)
        self.transposed, self.scaled = config["transposed"], config["scaled"]

    def forward(self, x: Tensor, signals: Signals) -> Tensor:
        first, second = self.given(x, signals)
        if self.transposed[0]:
            first = first.transpose(1, 2)
        if self.transposed[1]:
            second = second.transpose(1, 2)
        found = torch.bmm(first, second)
        if self.scaled:
            return found / math.sqrt(first.shape[2])
        return found


class Given(nn.Module):
    """The same for every sample: learned, or a constant."""

    def __init__(self, config: Config, build: Build) -> None:
        super().__init__()
        shape, self.value = config["shape"], config["value"]
        self.sizes = [shape["channels"], *shape["sides"]]
        if shape["is_sequence"]:
            self.sizes = [*shape["sides"], shape["channels"]]
        if self.value == "learned":
            self.weight = nn.Parameter(torch.empty(self.sizes))
            nn.init.normal_(self.weight)

    def forward(self, x: Tensor, signals: Signals) -> Tensor:
        """In the number format of what comes in, where it is numbers."""
        if self.value == "learned":
            return self.weight.repeat(x.shape[0], *[1] * len(self.sizes))
        made: Tensor = CONSTANTS[self.value](*self.sizes, device=x.device)
        if x.is_floating_point():
            made = made.to(x.dtype)
        return made.repeat(x.shape[0], *[1] * len(self.sizes))


LAYERS: dict[str, Any] = {"join": Join, "matmul": Matmul, "given": Given}
