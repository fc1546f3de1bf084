"""One vector for each sequence: of one position, the mean of all, or what a learned vector finds among them."""

import math

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.layers import add, make_norm, run
from archcalc.reference.parts import make_part
from archcalc.reference.positions import grid


def width_of(stack: Config) -> int:
    """Of the states that a head reads: the model's, or that of the tables where all states are projected to it."""
    tables = stack["tables"]
    if tables["projects"] and tables["project"] == "tokens":
        return int(tables["width"])
    return int(stack["d_model"])


def make_pooler(settings: Config, stack: Config, options: dict[str, str]) -> nn.Module | None:
    """What stands behind the last block where no head pools by itself."""
    if settings["pool"] == "probe":
        return Probe(stack, options)
    if settings["kind"] != "none":
        return None
    if settings["pooler"]:
        return Pooler(settings, stack, width_of(stack))
    if settings["pool"]:
        return NormedPool(settings, stack)
    return None


class Pool:
    """One position, or the mean of all; of an image the mean of its patches, or its class token beside that mean."""

    def __init__(self, how: str, stack: Config) -> None:
        self.how = how
        self.patches = 0
        if stack["patches"]:
            self.patches = math.prod(grid(stack["patches"]))
        self.times = 1 + (how == "both")

    def __call__(self, x: Tensor) -> Tensor:
        if self.how == "both":
            return torch.cat((x[:, 0], self._mean(x)), dim=-1)
        if self.how == "mean":
            return self._mean(x)
        if self.how == "patches":
            return x[:, -self.patches :].clone()  # or what is kept would depend on the batch
        place = {"class": 0, "second": 1, "last": -1}.get(self.how)
        if place is None:
            return x
        return x[:, place]

    def _mean(self, x: Tensor) -> Tensor:
        return x[:, -self.patches :].mean(dim=1)  # of all positions where there are no patches


class Pooler(nn.Linear):
    """A layer on the first position, as wide as what it reads unless its width is said."""

    def __init__(self, settings: Config, stack: Config, width: int) -> None:
        pool = Pool(settings["pool"] or "class", stack)
        into, out = pool.times * width, settings["pooler"]
        if out is True:
            out = into
        super().__init__(into, out)
        self.pool = pool

    def forward(self, x: Tensor) -> Tensor:
        return torch.tanh(super().forward(self.pool(x)))


class NormedPool(nn.Module):
    """What is pooled, perhaps normalised."""

    def __init__(self, settings: Config, stack: Config) -> None:
        super().__init__()
        self.pool = Pool(settings["pool"], stack)
        if settings["norm"]:
            add(self, "norm", make_norm(stack["norm"], self.pool.times * width_of(stack)))

    def forward(self, x: Tensor) -> Tensor:
        return run(self, "norm", self.pool(x))


class Probe(nn.Module):
    """A learned vector that looks at every position as the blocks do, then goes through an FFN (SigLIP)."""

    def __init__(self, stack: Config, options: dict[str, str]) -> None:
        super().__init__()
        width, parts = width_of(stack), list(stack["parts"].values())
        looks = next(part for part in parts if part["type"] == "attention" and part["feature"] == "softmax")
        wide = next(part for part in parts if part["type"] == "layer" and part["layer"]["type"] == "ffn")
        sees_all = {"causal": False, "window": None, "chunk": None}
        looks = {**looks, "cross": True, "memory": width, "positions": [], "sight": sees_all, "softmax": "input"}
        self.probe = Vector(width)
        self.attention = make_part(looks, width, width, options)
        add(self, "norm", make_norm(stack["norm"], width))
        self.ffn = make_part(wide, width, width, options)

    def forward(self, x: Tensor) -> Tensor:
        found = self.attention(self.probe(x.shape[0]), {"memory": x})
        return (found + self.ffn(run(self, "norm", found), {})).squeeze(1)


class Vector(nn.Module):
    """Learned, the same for every sequence."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1, width))

    def forward(self, batch: int) -> Tensor:
        return self.weight.repeat(batch, 1, 1)
