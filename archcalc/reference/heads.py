"""What turns a Transformer's last hidden states into answers."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.layers import ACTIVATIONS, add, make_norm, run
from archcalc.reference.pools import Pool, Pooler, width_of


class Head(nn.Module):
    """Logits over the vocabulary, by a matrix of its own or the embedding's, or over classes."""

    def __init__(self, settings: Config, stack: Config, vocab: int) -> None:
        super().__init__()
        self.settings = settings
        self.pool = Pool(settings["pool"] if settings["kind"] == "classifier" else "each", stack)
        tables, classifies = stack["tables"], settings["kind"] == "classifier"
        width = width_of(stack)
        if settings["layers"] == "weighted":
            self.layers = Weighted(_blocks(stack["items"]) + 1)
        if classifies and settings["project"]:
            self.project = nn.Linear(width, settings["project"])
            width = settings["project"]
        if classifies:
            width = self._before_classes(stack, width)
        add(self, "norm", make_norm(stack["norm"], width) if settings["norm"] and not classifies else None)
        if settings["transform"]:
            out = width if classifies else tables["width"]
            out = out if settings["transform"] is True else settings["transform"]
            self.transform = Transform(settings, stack, width, out)
            width = out
        outputs = settings["classes"] if classifies else vocab
        if settings["kind"] != "tied":
            self.weight = nn.Parameter(torch.empty(outputs, width).normal_(std=width**-0.5))
        self.bias = nn.Parameter(torch.zeros(outputs)) if settings["bias"] else None
        if settings["bias"] == "twice":
            self.spare_bias = Spare(outputs)

    def _before_classes(self, stack: Config, width: int) -> int:
        """What stands between the pooled states and the classes, and how wide it ends."""
        if self.settings["pooler"]:
            self.pooler = Pooler(self.settings, stack, width)
        width = self.pooler.out_features if self.settings["pooler"] else self.pool.times * width
        add(self, "norm", make_norm(stack["norm"], width) if self.settings["norm"] else None)
        if self.settings["hidden"]:
            self.hidden = nn.Linear(width, self.settings["hidden"])
            width = self.settings["hidden"]
        return width

    def forward(self, states: list[Tensor], table: Tensor | None) -> Tensor:
        """`states` are what entered the blocks, what each gave to the next, and what came out at the end."""
        x = self.layers(states) if hasattr(self, "layers") else states[-1]
        x = run(self, "project", x)
        x = self.pooler(x) if hasattr(self, "pooler") else self.pool(x)
        x = run(self, "norm", x)
        x = ACTIVATIONS[self.settings["act"]](self.hidden(x)) if hasattr(self, "hidden") else x
        x = run(self, "transform", x)
        weight = self.weight if table is None or self.settings["kind"] != "tied" else table
        return nn.functional.linear(x, weight, self.bias)


class Weighted(nn.Module):
    """States of all blocks, each times a learned number, summed."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(number))

    def forward(self, states: list[Tensor]) -> Tensor:
        weights = self.weight.softmax(dim=0).view(-1, 1, 1, 1)
        return (torch.stack(states) * weights).sum(dim=0)


def _blocks(items: list[Config]) -> int:
    """How many run."""
    inside = (_blocks(item["items"]) if "items" in item else item["calls"] for item in items)
    return sum(item["times"] * number for item, number in zip(items, inside, strict=True))


class Spare(nn.Module):
    """A bias that is kept and read by nothing."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(width))


class Transform(nn.Module):
    """A dense layer, an activation and a norm in front of the output layer."""

    def __init__(self, settings: Config, stack: Config, into: int, out: int) -> None:
        super().__init__()
        self.dense = nn.Linear(into, out, bias=settings["transform_bias"])
        add(self, "norm", make_norm(stack["norm"], out))

    def forward(self, x: Tensor) -> Tensor:
        return run(self, "norm", nn.functional.gelu(self.dense(x)))
