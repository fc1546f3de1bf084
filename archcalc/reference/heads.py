"""What turns a Transformer's last hidden states into answers."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.embeddings import grid
from archcalc.reference.layers import ACTIVATIONS, add, make_norm, run


def head_without_reference(config: Config) -> str:
    """What a head has that is not built here, or nothing."""
    if config["head"]["beside"]:
        return "two heads beside each other"
    if config["head"]["pool"] == "probe":
        return "pooling by attention"
    return "heads that read every block" if config["head"]["layers"] != "last" else ""


def width_of(stack: Config) -> int:
    """Of the states that a head reads: the model's, or that of the tables where all states are projected to it."""
    tables = stack["tables"]
    narrow = tables["projects"] and tables["project"] == "tokens"
    return int(tables["width"] if narrow else stack["d_model"])


class Head(nn.Module):
    """Logits over the vocabulary, by a matrix of its own or the embedding's, or over classes."""

    def __init__(self, config: Config, stack: Config) -> None:
        super().__init__()
        said = self.said = config["head"]
        self.pool = Pool(said["pool"] if said["kind"] == "classifier" else "each", stack)
        tables, classifies = stack["tables"], said["kind"] == "classifier"
        width = width_of(stack)
        if classifies and said["project"]:
            self.project = nn.Linear(width, said["project"])
            width = said["project"]
        if classifies:
            width = self._before_classes(config, stack, width)
        add(self, "norm", make_norm(stack["norm"], width) if said["norm"] and not classifies else None)
        if said["transform"]:
            out = width if classifies else tables["width"]
            out = out if said["transform"] is True else said["transform"]
            self.transform = Transform(config, stack, width, out)
            width = out
        outputs = said["classes"] if classifies else config["head_vocab"]
        if said["kind"] != "tied":
            self.weight = nn.Parameter(torch.empty(outputs, width).normal_(std=width**-0.5))
        self.bias = nn.Parameter(torch.zeros(outputs)) if said["bias"] else None
        if said["bias"] == "twice":
            self.spare_bias = Spare(outputs)

    def _before_classes(self, config: Config, stack: Config, width: int) -> int:
        """What stands between the pooled states and the classes, and how wide it ends."""
        if self.said["pooler"]:
            self.pooler = Pooler(config, stack, width)
        width = self.pooler.out_features if self.said["pooler"] else self.pool.times * width
        add(self, "norm", make_norm(stack["norm"], width) if self.said["norm"] else None)
        if self.said["hidden"]:
            self.hidden = nn.Linear(width, self.said["hidden"])
            width = self.said["hidden"]
        return width

    def forward(self, x: Tensor, table: Tensor | None) -> Tensor:
        x = run(self, "project", x)
        x = self.pooler(x) if hasattr(self, "pooler") else self.pool(x)
        x = run(self, "norm", x)
        x = ACTIVATIONS[self.said["act"]](self.hidden(x)) if hasattr(self, "hidden") else x
        x = run(self, "transform", x)
        weight = self.weight if table is None or self.said["kind"] != "tied" else table
        return nn.functional.linear(x, weight, self.bias)


class Spare(nn.Module):
    """A bias that is kept and read by nothing."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(width))


class Pool:
    """One position, or the mean of all; of an image the mean of its patches, or its class token beside that mean."""

    def __init__(self, how: str, stack: Config) -> None:
        self.how = how
        self.patches = math.prod(grid(stack["patches"])) if stack["patches"] else 0
        self.times = 2 if how == "both" else 1

    def __call__(self, x: Tensor) -> Tensor:
        if self.how == "both":
            return torch.cat((x[:, 0], self._mean(x)), dim=-1)
        if self.how == "mean":
            return self._mean(x)
        if self.how == "patches":
            return x[:, -self.patches :].clone()  # or what is kept would depend on the batch
        place = {"class": 0, "second": 1, "last": -1}.get(self.how)
        return x if place is None else x[:, place]

    def _mean(self, x: Tensor) -> Tensor:
        return (x[:, -self.patches :] if self.patches else x).mean(dim=1)


class Pooler(nn.Linear):
    """A layer on the first position, as wide as what it reads unless its width is said."""

    def __init__(self, config: Config, stack: Config, width: int) -> None:
        said = config["head"]
        pool = Pool(said["pool"] or "class", stack)
        into = pool.times * width
        super().__init__(into, into if said["pooler"] is True else said["pooler"])
        self.pool = pool

    def forward(self, x: Tensor) -> Tensor:
        return torch.tanh(super().forward(self.pool(x)))


class NormedPool(nn.Module):
    """What is pooled, normalised."""

    def __init__(self, config: Config, stack: Config) -> None:
        super().__init__()
        self.pool = Pool(config["head"]["pool"], stack)
        add(self, "norm", make_norm(stack["norm"], self.pool.times * width_of(stack)))

    def forward(self, x: Tensor) -> Tensor:
        return run(self, "norm", self.pool(x))


class Transform(nn.Module):
    """A dense layer, an activation and a norm in front of the output layer."""

    def __init__(self, config: Config, stack: Config, into: int, out: int) -> None:
        super().__init__()
        self.dense = nn.Linear(into, out, bias=config["head"]["transform_bias"])
        add(self, "norm", make_norm(stack["norm"], out))

    def forward(self, x: Tensor) -> Tensor:
        return run(self, "norm", nn.functional.gelu(self.dense(x)))
