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
        self.steps, self.start = config["steps"], config["start"]
        self.recompute = recompute
        for step in self.steps:
            made = [layer(step["layer"], recompute) for _ in range(step["repeat"])]
            self._modules[step["name"]] = one_or_list(made)  # whatever the spec calls it: `forward`, `training`

    def forward(self, x: Tensor, signals: Signals) -> Tensor:
        return self.all_steps(signals.get(self.start, x), dict(signals))

    def all_steps(self, x: Tensor, known: Signals) -> Tensor:
        """What every named step gives is then known."""
        for step in self.steps:
            again = self.recompute == "block" and step["layer"].get("is_block", False) and torch.is_grad_enabled()
            for one in listed(self._modules[step["name"]]):  # a block may be computed again in the backward pass
                x = recomputed(one, x, known) if again else one(x, known)
            if step["signal"]:
                known[step["signal"]] = x
        return x


def layer(config: Config, recompute: str) -> nn.Module:
    """The layer of a config; those that hold others build them with this function. A single layer stands for itself."""
    if config["type"] == "along_positions":
        return along_positions(layer(config["layer"], recompute))
    if config["type"] != "sequence":
        return LAYERS[config["type"]](config, lambda inner: layer(inner, recompute))
    steps = config["steps"]
    if len(steps) == 1 and steps[0]["repeat"] == 1:
        made, start = layer(steps[0]["layer"], recompute), config["start"]
        if start:  # it is given what that layer gave
            made.register_forward_pre_hook(lambda module, given: (given[1][start], given[1]))
        return made
    return Sequence(config, recompute)


def along_positions(made: nn.Module) -> nn.Module:
    """A layer of maps, for which the features of a sequence are channels."""
    of_maps = made.forward
    made.forward = lambda x, signals: of_maps(x.transpose(1, 2), signals).transpose(1, 2)
    return made


class Network(Sequence):
    """The body's layers stand at the top, each head under its name."""

    def __init__(self, config: Config, recompute: str) -> None:
        super().__init__(config["body"], recompute)
        self.heads = list(config["heads"])
        for name, head in config["heads"].items():
            self._modules[name] = layer(head, recompute)

    def forward(self, x: Tensor, signals: Signals | None = None) -> Any:
        known: Signals = {}
        out = self.all_steps(x, known)
        found = [self._modules[name](out, known) for name in self.heads]  # type: ignore[misc]
        return found or [out]


class Networks(Family):
    def build(self, options: dict[str, str]) -> nn.Module:
        return Network(self.config, options["recompute"])

    def inputs(self, batch: int, lengths: dict[str, int], device: torch.device) -> list[Tensor]:
        sample = self.config["sample"]
        channels, sides = sample["channels"], sample["sides"]
        if sample["is_ids"]:
            return [torch.randint(min(self._vocabularies()), (batch, *sides), device=device)]
        return [
            torch.rand(batch, *([*sides, channels] if sample["is_sequence"] else [channels, *sides]), device=device)
        ]

    def _vocabularies(self) -> Iterator[int]:
        every = _configs([self.config["body"], self.config["heads"]])
        return (each["vocab"] for each in every if each.get("type") == "embedding")

    def loss(self, output: Any, given: list[Tensor]) -> Tensor:
        """The loss of every output, added up."""
        every = zip(output, self.config["outputs"], strict=True)
        return torch.stack([self._loss(each, shape, given[0]) for each, shape in every]).sum()

    def _loss(self, output: Tensor, shape: Config, x: Tensor) -> Tensor:
        if self.config["loss"] == "cross_entropy" and shape["is_sequence"]:  # positions as further samples
            output = output.flatten(0, 1)
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
        sample = given[0][:1]
        with torch.no_grad():
            found = model.float()(sample.float() if sample.is_floating_point() else sample)
        return {"finite": all(bool(each.isfinite().all()) for each in found)}


def _configs(value: Any) -> Iterator[Config]:
    """Every mapping inside."""
    if isinstance(value, dict):
        yield value
    inner = list(value.values()) if isinstance(value, dict) else value
    for each in inner if isinstance(inner, list) else ():
        yield from _configs(each)


def _steps(config: Config) -> Iterator[Config]:
    """All steps of a sequence, and of the sequences in it."""
    for step in config["steps"]:
        yield step
        if step["layer"]["type"] == "sequence":
            yield from _steps(step["layer"])


FAMILY = Networks
