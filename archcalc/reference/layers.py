"""Small layers that every family uses, as PyTorch has them."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - as all of PyTorch's users write it
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from archcalc.reference.selective import contexts

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
XIELU = 0.5  # the share of x on both sides of 0
FFN_NAMES = {True: ("gate", "up", "down"), False: ("in", "out")}  # of matrices, by whether there is a gate


def make_norm(settings: dict[str, Any], width: int) -> nn.Module | None:
    """nn.LayerNorm or nn.RMSNorm, or none."""
    if settings["kind"] == "layer":
        return nn.LayerNorm(width, elementwise_affine=settings["affine"], bias=settings["bias"])
    if settings["kind"] == "rms":
        return nn.RMSNorm(width, elementwise_affine=settings["affine"])
    return None


def add(parent: nn.Module, name: str, child: nn.Module | None) -> None:
    """Register a child under any name, Python's own words included."""
    if child is not None:
        parent.add_module(name, child)


def run(parent: nn.Module, name: str, x: Tensor) -> Tensor:
    """Apply the child of that name, if it is there."""
    child = parent._modules.get(name)
    if child is None:
        return x
    found: Tensor = child(x)
    return found


def weight_if(there: Any, *shape: int, start: Callable[..., Tensor] = torch.zeros) -> nn.Parameter | None:
    """A bias or another weight that a layer has on a condition."""
    if not there:
        return None
    return nn.Parameter(start(shape))


class Weight(nn.Module):
    """A layer that is one tensor of weights; what it does with them is said by each kind."""

    def __init__(self, *shape: int, start: Callable[..., Tensor] = torch.zeros) -> None:
        super().__init__()
        self.weight = nn.Parameter(start(shape))


def plus(x: Tensor, bias: Tensor | None) -> Tensor:
    """With what is added to it, if anything is."""
    if bias is None:
        return x
    return x + bias


def masked(scores: Tensor, hidden: Tensor | None) -> Tensor:
    """As low as their type allows where a key is hidden."""
    if hidden is None:
        return scores
    return scores.masked_fill(hidden, torch.finfo(scores.dtype).min)


def side_by_side(tensors: Sequence[Tensor], dim: int = -1) -> Tensor:
    """Joined along a dim; a single one is itself, and no copy."""
    if len(tensors) == 1:
        return tensors[0]
    return torch.cat(tuple(tensors), dim=dim)


def one_or_list(made: Sequence[nn.Module]) -> nn.Module:
    """Equal modules under one name: a single one stands for itself."""
    if len(made) == 1:
        return made[0]
    return nn.ModuleList(made)


def listed(modules: Any) -> list[Any]:
    """The modules that `one_or_list` put under one name."""
    if isinstance(modules, nn.ModuleList):
        return list(modules)
    return [modules]


def recomputed(function: Callable[..., Any], *given: Any, op_by_op: bool = False) -> Any:
    """Its output; what it makes on the way, or what of it is cheap, is thrown away and made again going back."""
    on_meta = any(isinstance(one, Tensor) and one.device.type == "meta" for one in given)
    how: dict[str, Any] = {"use_reentrant": False, "preserve_rng_state": not on_meta}
    if op_by_op:
        how["context_fn"] = contexts
    return checkpoint(function, *given, **how)


def attended(options: dict[str, str], core: Callable[..., Tensor], *given: Any) -> Tensor:
    """An attention core's output, which may be made again going back."""
    if options["recompute"] != "core":
        return core(*given)
    made: Tensor = recomputed(core, *given)
    return made


def dropped(x: Tensor, rate: float, training: bool) -> Tensor:
    """Dropout, in training."""
    if not training or not rate:
        return x
    return torch.native_dropout(x, rate, True)[0]


class Dropout(nn.Module):
    """`torch.native_dropout`, which keeps a mask of one byte an element, as nn.Dropout does on a GPU."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, x: Tensor) -> Tensor:
        return dropped(x, self.rate, self.training)


class Xielu(nn.Module):
    """Above 0 a share of x², below 0 one of eˣ − 1 − x (Huang and Schlag 2024, arXiv:2411.13010)."""

    def __init__(self) -> None:
        super().__init__()
        self.alpha_p, self.alpha_n = nn.Parameter(torch.zeros(1)), nn.Parameter(torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = XieluKernel.apply(x, self.alpha_p, self.alpha_n)
        return found


class XieluKernel(torch.autograd.Function):
    """Only the input is saved for backward."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, alpha_p: Tensor, alpha_n: Tensor) -> Tensor:
        ctx.save_for_backward(x, alpha_p, alpha_n)
        above, below = _sides(x)
        return F.softplus(alpha_p) * above + (XIELU + F.softplus(alpha_n)) * below + XIELU * x

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        (x, alpha_p, alpha_n), (gradient,) = ctx.saved_tensors, gradients
        above, below = _sides(x)
        steep = 2 * F.softplus(alpha_p) * x.clamp(min=0) + (XIELU + F.softplus(alpha_n)) * x.clamp(max=0).expm1()
        to_numbers = [(gradient * side).sum().view(1) for side in (above, below)]
        shares = alpha_p.sigmoid(), alpha_n.sigmoid()
        return gradient * (steep + XIELU), to_numbers[0] * shares[0], to_numbers[1] * shares[1]


def _sides(x: Tensor) -> tuple[Tensor, Tensor]:
    """x² above 0, and eˣ − 1 − x below it."""
    negative = x.clamp(max=0)
    return x.clamp(min=0).square(), negative.expm1() - negative


class FeedForward(nn.Module):
    """out(act(in(x))), or gated, down(act(gate(x)) ∗ up(x))."""

    def __init__(self, layer: dict[str, Any], d_model: int) -> None:
        super().__init__()
        self.gated = layer["gated"]
        self.act: Any = ACTIVATIONS.get(layer["act"]) or Xielu()
        *inner, out = FFN_NAMES[bool(self.gated)]
        for name in inner:
            self.add_module(name, nn.Linear(d_model, layer["width"], bias=layer["bias"]))
        add(self, "inner_norm", make_norm({"kind": layer["inner_norm"], "affine": True, "bias": True}, layer["width"]))
        self.add_module(out, nn.Linear(layer["width"], d_model, bias=layer["out_bias"]))

    def forward(self, x: Tensor, given: dict[str, Tensor], cache: Any = None) -> Tensor:
        if self.gated:
            return run(self, "down", run(self, "inner_norm", self.act(run(self, "gate", x)) * run(self, "up", x)))
        return run(self, "out", run(self, "inner_norm", self.act(run(self, "in", x))))
