"""Networks written layer by layer, in plain PyTorch: the names of modules and parameters are those of the spec."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.attention import is_flash
from archcalc.reference.attention_layers import ATTENTION_LAYERS, attentions_in
from archcalc.reference.branches import LAYERS as BRANCHES
from archcalc.reference.family import Family
from archcalc.reference.layers import listed, one_or_list, recomputed
from archcalc.reference.local_attention import LocalAttention
from archcalc.reference.local_conv import LocalConv
from archcalc.reference.map_windows import Windows
from archcalc.reference.maps import LAYERS, Signals

Options = dict[str, str]
KINDS = {**LAYERS, **BRANCHES, "windows": Windows, "local_conv": LocalConv, "local_attention": LocalAttention}


class Sequence(nn.Module):
    """Layers one after the other; equal ones that follow each other are a list under one name."""

    def __init__(self, config: Config, options: Options) -> None:
        super().__init__()
        self.steps, self.start = config["steps"], config["start"]
        for step in self.steps:
            made = [layer(step["layer"], options) for _ in range(step["repeat"])]
            self._modules[step["name"]] = one_or_list(made)  # whatever the spec calls it: `forward`, `training`

    def forward(self, x: Tensor, signals: Signals) -> Tensor:
        return self.all_steps(signals.get(self.start, x), dict(signals))

    def all_steps(self, x: Tensor, known: Signals) -> Tensor:
        """What every named step gives is then known."""
        for step in self.steps:
            for one in listed(self._modules[step["name"]]):
                x = one(x, known)
            if step["signal"]:
                known[step["signal"]] = x
        return x


def layer(config: Config, options: Options) -> nn.Module:
    """The layer of a config; those that hold others build them with this function. A single layer stands for itself."""
    if config["type"] == "along_positions":
        return along_positions(layer(config["layer"], options))
    if config["type"] in ATTENTION_LAYERS:
        return ATTENTION_LAYERS[config["type"]](config, options)
    if config["type"] != "sequence":
        made: nn.Module = KINDS[config["type"]](config, lambda inner: layer(inner, options))
        return made
    if config["is_block"] and options["recompute"] == "block":  # with all that is in it
        return again(layer({**config, "is_block": False}, {**options, "recompute": "none"}))
    steps = config["steps"]
    if len(steps) == 1 and steps[0]["repeat"] == 1:
        made, start = layer(steps[0]["layer"], options), config["start"]
        if start:  # it is given what that layer gave, before hooks of its own
            made.register_forward_pre_hook(lambda module, given: (given[1][start], given[1]), prepend=True)
        return made
    return Sequence(config, options)


def again(made: nn.Module) -> nn.Module:
    """A block that is computed again in the backward pass, wherever it stands."""
    once = made.forward

    def forward(x: Tensor, signals: Signals) -> Tensor:
        found: Tensor = recomputed(once, x, signals) if torch.is_grad_enabled() else once(x, signals)
        return found

    made.forward = forward
    return made


def along_positions(made: nn.Module) -> nn.Module:
    """A layer of maps, for which the features of a sequence are channels."""
    of_maps = made.forward
    made.forward = lambda x, signals: of_maps(x.transpose(1, 2), signals).transpose(1, 2)
    return made


class Network(Sequence):
    """The body's layers stand at the top, each head under its name."""

    def __init__(self, config: Config, options: Options) -> None:
        super().__init__(config["body"], options)
        self.heads = list(config["heads"])
        for name, head in config["heads"].items():
            self._modules[name] = layer(head, options)

    def forward(self, x: Tensor, signals: Signals | None = None) -> Any:
        known: Signals = {}
        out = self.all_steps(x, known)
        found = [self._modules[name](out, known) for name in self.heads]  # type: ignore[misc]
        return found or [out]


class Networks(Family):
    def build(self, options: dict[str, str]) -> nn.Module:
        return Network(self.config, options)

    def inputs(self, batch: int, lengths: dict[str, int], device: torch.device) -> list[Tensor]:
        sample = self.config["sample"]
        channels, sides = sample["channels"], sample["sides"]
        if sample["is_ids"]:
            return [torch.randint(min(self._vocabularies()), (batch, *sides), device=device)]
        return [
            torch.rand(batch, *([*sides, channels] if sample["is_sequence"] else [channels, *sides]), device=device)
        ]

    def _configs(self) -> Iterator[Config]:
        """Of all layers, and of what they are made of."""
        return _configs([self.config["body"], self.config["heads"]])

    def _vocabularies(self) -> Iterator[int]:
        return (each["vocab"] for each in self._configs() if each.get("type") == "embedding")

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
        blocks = any(one.get("is_block") or one.get("type") == "transformer_layer" for one in self._configs())
        return ("none", *["block"] * blocks, *["core"] * (attention == "eager"))

    def attentions(self) -> tuple[str, ...]:
        """The flash kernel too where one of the attentions can take it."""
        looking = [part for one in self._configs() for part in attentions_in(one)]
        if any(is_flash(part, {"attention": "flash"}) for part in looking):
            return ("eager", "flash")
        return ("eager" if looking else "",)

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


FAMILY = Networks
