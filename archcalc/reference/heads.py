"""What turns a Transformer's last hidden states into answers: heads, and what pools a sequence into one vector."""

import math

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.block import make_part
from archcalc.reference.layers import ACTIVATIONS, Weight, add, make_norm, run, weight_if
from archcalc.reference.positions import grid


class Head(nn.Module):
    """Logits over the vocabulary, by a matrix of its own or the embedding's, or over classes."""

    def __init__(self, settings: Config, stack: Config, vocab: int) -> None:
        super().__init__()
        self.settings = settings
        classifies, width, outputs = settings["kind"] == "classifier", width_of(stack), vocab
        self.pool = Pool("each", stack)
        if settings["layers"] == "weighted":
            self.layers = Weighted(_blocks(stack["items"]) + 1)
        if classifies:
            outputs = settings["classes"]
            width = self._before_classes(stack, width)
        elif settings["norm"]:
            add(self, "norm", make_norm(stack["norm"], width))
        if settings["transform"]:
            out = settings["transform"]
            if out is True:
                out = width if classifies else stack["tables"]["width"]
            self.transform = Transform(settings, stack, width, out)
            width = out
        if settings["kind"] != "tied":
            self.weight = nn.Parameter(torch.empty(outputs, width).normal_(std=width**-0.5))
        self.bias = weight_if(settings["bias"], outputs)
        if settings["bias"] == "twice":  # one of them is kept and read by nothing
            self.spare_bias = nn.ParameterDict({"bias": torch.zeros(outputs)})

    def _before_classes(self, stack: Config, width: int) -> int:
        """What stands between the pooled states and the classes, and how wide it ends."""
        self.pool = Pool(self.settings["pool"], stack)
        if self.settings["project"]:
            self.project = nn.Linear(width, self.settings["project"])
            width = self.settings["project"]
        if self.settings["pooler"]:
            self.pooler = Pooler(self.settings, stack, width)
            width = self.pooler.out_features
        else:
            width *= self.pool.times
        if self.settings["norm"]:
            add(self, "norm", make_norm(stack["norm"], width))
        if self.settings["hidden"]:
            self.hidden = nn.Linear(width, self.settings["hidden"])
            width = self.settings["hidden"]
        return width

    def forward(self, states: list[Tensor], table: Tensor | None) -> Tensor:
        """`states` are what entered the blocks, what each gave to the next, and what came out at the end."""
        x = states[-1]
        if hasattr(self, "layers"):
            x = self.layers(states)
        pool = self._modules.get("pooler") or self.pool
        x = run(self, "norm", pool(run(self, "project", x)))
        if hasattr(self, "hidden"):
            x = ACTIVATIONS[self.settings["act"]](self.hidden(x))
        x = run(self, "transform", x)
        if table is None or self.settings["kind"] != "tied":
            table = self.weight
        return nn.functional.linear(x, table, self.bias)


class Weighted(Weight):
    """States of all blocks, each times a learned number, summed."""

    def forward(self, states: list[Tensor]) -> Tensor:
        weights = self.weight.softmax(dim=0).view(-1, 1, 1, 1)
        return (torch.stack(states) * weights).sum(dim=0)


def _blocks(items: list[Config]) -> int:
    """How many run."""
    periods = [item for item in items if "items" in item]
    lines = [item for item in items if "items" not in item]
    inside = sum(item["times"] * _blocks(item["items"]) for item in periods)
    return inside + sum(item["times"] * item["calls"] for item in lines)


class Transform(nn.Module):
    """A dense layer, an activation and a norm in front of the output layer."""

    def __init__(self, settings: Config, stack: Config, into: int, out: int) -> None:
        super().__init__()
        self.dense = nn.Linear(into, out, bias=settings["transform_bias"])
        add(self, "norm", make_norm(stack["norm"], out))

    def forward(self, x: Tensor) -> Tensor:
        return run(self, "norm", nn.functional.gelu(self.dense(x)))


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
        self.probe = Vector(1, width)
        self.attention = make_part(looks, width, width, options)
        add(self, "norm", make_norm(stack["norm"], width))
        self.ffn = make_part(wide, width, width, options)

    def forward(self, x: Tensor) -> Tensor:
        found = self.attention(self.probe(x.shape[0]), {"memory": x})
        return (found + self.ffn(run(self, "norm", found), {})).squeeze(1)


class Vector(Weight):
    """Learned, the same for every sequence."""

    def forward(self, batch: int) -> Tensor:
        return self.weight.repeat(batch, 1, 1)
