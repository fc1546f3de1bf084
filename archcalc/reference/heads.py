"""What turns a Transformer's last hidden states into answers."""

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.layers import ACTIVATIONS, add, make_norm, run, weight_if
from archcalc.reference.pools import Pool, Pooler, width_of


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
            if out is True and classifies:
                out = width
            elif out is True:
                out = stack["tables"]["width"]
            self.transform = Transform(settings, stack, width, out)
            width = out
        if settings["kind"] != "tied":
            self.weight = nn.Parameter(torch.empty(outputs, width).normal_(std=width**-0.5))
        self.bias = weight_if(settings["bias"], outputs)
        if settings["bias"] == "twice":
            self.spare_bias = Spare(outputs)

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
    periods = [item for item in items if "items" in item]
    lines = [item for item in items if "items" not in item]
    inside = sum(item["times"] * _blocks(item["items"]) for item in periods)
    return inside + sum(item["times"] * item["calls"] for item in lines)


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
