"""Networks written layer by layer, in plain PyTorch: the names of modules and parameters are those of the spec."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.family import Family
from archcalc.reference.layers import listed, one_or_list, recomputed
from archcalc.reference.maps import LAYERS, Signals


class Sequence(nn.Module):
    """Layers one after the other; equal ones that follow each other are a list under one name."""

    def __init__(self, config: Config, recompute: str) -> None:
        super().__init__()
        self.steps = config["steps"]
        self.recompute = recompute
        for step in self.steps:
            made = [layer(step["layer"], recompute) for _ in range(step["repeat"])]
            self.add_module(step["name"], one_or_list(made))

    def forward(self, x: Tensor, signals: Signals) -> Tensor:
        known = dict(signals)
        for step in self.steps:
            again = self.recompute == "block" and step["layer"].get("is_block", False) and torch.is_grad_enabled()
            for one in listed(self._modules[step["name"]]):  # a block may be computed again in the backward pass
                x = recomputed(one, x, known) if again else one(x, known)
            if step["signal"]:
                known[step["signal"]] = x
        return x


def layer(config: Config, recompute: str) -> nn.Module:
    """The layer of a config; those that hold others build them with this function. A single layer stands for itself."""
    if config["type"] != "sequence":
        return LAYERS[config["type"]](config, lambda inner: layer(inner, recompute))
    steps = config["steps"]
    if len(steps) == 1 and steps[0]["repeat"] == 1:
        return layer(steps[0]["layer"], recompute)
    return Sequence(config, recompute)


class Network(Sequence):
    """The body's layers stand at the top, each head under its name."""

    def __init__(self, config: Config, recompute: str) -> None:
        super().__init__(config["body"], recompute)
        self.heads = list(config["heads"])
        for name, head in config["heads"].items():
            self.add_module(name, layer(head, recompute))

    def forward(self, x: Tensor, signals: Signals | None = None) -> Any:
        out = super().forward(x, {})
        found = [self._modules[name](out, {}) for name in self.heads]  # type: ignore[misc]
        return found or [out]


class Networks(Family):
    def build(self, options: dict[str, str]) -> nn.Module:
        return Network(self.config, options["recompute"])

    def inputs(self, batch: int, lengths: dict[str, int], device: torch.device) -> list[Tensor]:
        return [torch.rand(batch, *self.config["input"], device=device)]

    def loss(self, output: Any, given: list[Tensor]) -> Tensor:
        """The loss of every output, added up."""
        return torch.stack([self._loss(each, given[0]) for each in output]).sum()

    def _loss(self, output: Tensor, x: Tensor) -> Tensor:
        if self.config["loss"] == "squared_error":
            return nn.functional.mse_loss(output, x)
        if self.config["loss"] == "none":
            return output.sum()
        targets = torch.randint(output.shape[1], (output.shape[0], *output.shape[2:]), device=output.device)
        return nn.functional.cross_entropy(output, targets)

    def recomputes(self, attention: str) -> tuple[str, ...]:
        if any(step["layer"].get("is_block") for step in _steps(self.config["body"])):
            return ("none", "block")
        return ("none",)

    def properties(self, model: nn.Module, given: list[Tensor]) -> dict[str, bool]:
        """One sample in single precision: images are large."""
        with torch.no_grad():
            found = model.float()(given[0][:1].float())
        return {"finite": all(bool(each.isfinite().all()) for each in found)}


def _steps(config: Config) -> Iterator[Config]:
    """All steps of a sequence, and of the sequences in it."""
    for step in config["steps"]:
        yield step
        if step["layer"]["type"] == "sequence":
            yield from _steps(step["layer"])


FAMILY = Networks
