"""The interface that `archcalc verify` uses for a family of models, with defaults."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from archcalc.reference import Config


class Family:
    """The models of a family, each given by its resolved spec as plain values."""

    def __init__(self, config: Config) -> None:
        self.config = config

    def build(self, options: dict[str, str]) -> nn.Module:
        """The model; `options` choose attention (eager, flash) and recompute (none, core, block, ops)."""
        raise NotImplementedError

    def inputs(self, batch: int, lengths: dict[str, int], device: torch.device) -> list[Tensor]:
        """Random ids, images or vectors, one tensor for each input of the model."""
        raise NotImplementedError

    def loss(self, output: Any, given: list[Tensor]) -> Tensor:
        """One number to train on."""
        raise NotImplementedError

    def broken(self) -> str:
        """Why PyTorch builds such a model and cannot run it, or nothing."""
        return ""

    def attentions(self) -> tuple[str, ...]:
        """The ways attention can be computed; one without a name where there is none, or no kernel for it."""
        return ("",)

    def recomputes(self, attention: str) -> tuple[str, ...]:
        """What activation checkpointing can recompute in the backward pass."""
        return ("none",)

    def compared(self) -> tuple[str, ...]:
        """Of training, what PyTorch can be asked."""
        return ("forward", "backward", "saved")

    def decodes(self) -> bool:
        """Whether it can decode token by token."""
        return False

    def decode_step(self, model: nn.Module, given: list[Tensor]) -> tuple[Callable[[], Tensor], Any]:
        """Runs all tokens but the last, then returns a function for the last one, and its cache."""
        raise NotImplementedError

    def kept_tensors(self, kept: Any) -> list[Tensor]:
        """The cache after a decode step."""
        raise NotImplementedError

    def properties(self, model: nn.Module, given: list[Tensor]) -> dict[str, bool]:
        """Checks on values, on real data in double precision."""
        with torch.no_grad():
            output = model(*given)
        found: Tensor = getattr(output, "outputs", output)
        return {"finite": bool(found.isfinite().all())}


def randomise(model: nn.Module) -> None:
    """Positions and biases start at zero, which would hide mistakes: every parameter gets random values."""
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.2)


def cross_entropy(head: Config, output: Tensor) -> Tensor:
    """With random targets; the sum of what comes out where there is no head."""
    if head["kind"] == "none":
        return output.sum()
    targets = torch.randint(output.shape[-1], output.shape[:-1], device=output.device)
    return nn.functional.cross_entropy(output.flatten(0, -2), targets.flatten())


def is_causal(model: Callable[..., Tensor], given: list[Tensor], output: Tensor) -> bool:
    """Another last token changes no output before it."""
    other = given[-1].clone()
    other[:, -1] = (other[:, -1] + 1) % (int(other.max()) + 1)
    return bool(torch.allclose(model(*given[:-1], other)[:, :-1], output[:, :-1]))


def decodes_alike(last: Tensor, output: Tensor) -> bool:
    """The last token behind what was kept of those before it gives what it gives behind them all."""
    return bool(torch.allclose(last[:, 0], output[:, -1]))
