"""Small layers that every family uses, as PyTorch has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - as all of PyTorch's users write it
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from archcalc.reference.selective import contexts
from archcalc.reference.xielu import Xielu

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "relu2": lambda x: F.relu(x).square(),
    "leaky_relu": F.leaky_relu,
    "elu": F.elu,
    "identity": lambda x: x,
    "selu": F.selu,
    "mish": F.mish,
    "softplus": F.softplus,
    "relu6": F.relu6,
    "hardswish": F.hardswish,
    "hardsigmoid": F.hardsigmoid,
}


def make_norm(settings: dict[str, Any], width: int) -> nn.Module | None:
    """nn.LayerNorm or nn.RMSNorm, or none."""
    if settings["kind"] == "layer":
        return nn.LayerNorm(width, elementwise_affine=settings["affine"], bias=settings["bias"])
    return nn.RMSNorm(width, elementwise_affine=settings["affine"]) if settings["kind"] == "rms" else None


def add(parent: nn.Module, name: str, child: nn.Module | None) -> None:
    """Register a child under any name, Python's own words included."""
    if child is not None:
        parent.add_module(name, child)


def run(parent: nn.Module, name: str, x: Tensor) -> Tensor:
    """Apply the child of that name, if it is there."""
    child = parent._modules.get(name)
    return x if child is None else child(x)


def recomputed(function: Callable[..., Tensor], *given: Any, op_by_op: bool = False) -> Tensor:
    """Its output; what it makes on the way, or what of it is cheap, is thrown away and made again going back."""
    on_meta = any(isinstance(one, Tensor) and one.device.type == "meta" for one in given)
    how: dict[str, Any] = {"context_fn": contexts} if op_by_op else {}
    made: Tensor = checkpoint(function, *given, use_reentrant=False, preserve_rng_state=not on_meta, **how)
    return made


class Dropout(nn.Module):
    """`torch.native_dropout`, which keeps a mask of one byte an element, as nn.Dropout does on a GPU."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, x: Tensor) -> Tensor:
        return torch.native_dropout(x, self.rate, True)[0] if self.training and self.rate else x


def _inner_norm(kind: str, width: int) -> nn.Module | None:
    return make_norm({"kind": kind, "affine": True, "bias": True}, width)


class FeedForward(nn.Module):
    """out(act(in(x))), or gated, down(act(gate(x)) ∗ up(x))."""

    def __init__(self, layer: dict[str, Any], d_model: int) -> None:
        super().__init__()
        self.gated = layer["gated"]
        self.act = Xielu() if layer["act"] == "xielu" else ACTIVATIONS[layer["act"]]
        for name in ("gate", "up") if self.gated else ("in",):
            self.add_module(name, nn.Linear(d_model, layer["width"], bias=layer["bias"]))
        add(self, "inner_norm", _inner_norm(layer["inner_norm"], layer["width"]))
        out = nn.Linear(layer["width"], d_model, bias=layer["out_bias"])
        self.add_module("down" if self.gated else "out", out)

    def forward(self, x: Tensor, given: dict[str, Tensor], cache: Any = None) -> Tensor:
        if self.gated:
            return run(self, "down", run(self, "inner_norm", self.act(run(self, "gate", x)) * run(self, "up", x)))
        return run(self, "out", run(self, "inner_norm", self.act(run(self, "in", x))))
