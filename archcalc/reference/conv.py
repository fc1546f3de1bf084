"""Convolutions along the sequence: short causal ones before a recurrent state or between gates, and DeBERTa-v2's."""

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - as all of PyTorch's users write it
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.layers import ACTIVATIONS, run, side_by_side, weight_if
from archcalc.reference.scan import keep, known


class ByChannel(torch.autograd.Function):
    """F.conv1d over a padded sequence, whose backward pass keeps the sequence itself and not a padded copy.

    Its gradients are written out, because FlopCounterMode counts the gradient of a grouped convolution's weights as if
    the channels were not apart: `channels` times too much.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, before: Tensor) -> Tensor:
        """`x` is (batch, seq, channels), `before` what stands before it, (batch, channels, taps - 1)."""
        ctx.save_for_backward(x, weight)
        ctx.biased = bias is not None
        padded = torch.cat((before, x.transpose(1, 2)), dim=2)
        return F.conv1d(padded, weight, bias, groups=len(weight)).transpose(1, 2).contiguous()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor | None, None]:
        (x, weight), (gradient,) = ctx.saved_tensors, gradients
        (batch, seq, channels), more = x.shape, weight.shape[2] - 1
        arriving = gradient.transpose(1, 2)
        to_x = F.conv1d(F.pad(arriving, (0, more)), weight.flip(2), groups=channels).transpose(1, 2)
        seen = F.pad(x.transpose(1, 2), (more, 0)).unfold(2, seq, 1)  # (batch, channels, taps, seq)
        seen = seen.permute(1, 2, 0, 3).reshape(channels, more + 1, batch * seq)
        to_weight = seen @ arriving.transpose(0, 1).reshape(channels, batch * seq, 1)
        to_bias = None
        if ctx.biased:
            to_bias = gradient.sum((0, 1))
        return to_x, to_weight.transpose(1, 2), to_bias, None


class CausalConv(nn.Module):
    """What every channel makes of its last few values."""

    def __init__(self, channels: int, taps: int, bias: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(channels, 1, taps).normal_(std=taps**-0.5))
        self.bias = weight_if(bias, channels)

    def forward(self, x: Tensor, cache: Any, path: str) -> Tensor:
        """`x` is (batch, seq, channels); before the first position there are zeros, or what was kept."""
        name, more = f"{path}.conv", self.weight.shape[2] - 1
        before = known(cache, name)
        if before is None:
            before = x.new_zeros(x.shape[0], x.shape[2], more)
        if cache is not None:
            keep(cache, name, torch.cat((before, x.transpose(1, 2)), dim=2)[:, :, x.shape[1] :])
        found: Tensor = ByChannel.apply(x, self.weight, self.bias, before)
        return found


class GatedConv(nn.Module):
    """LFM2's: one projection for both gates and what is convolved."""

    def __init__(self, layer: Config, d_model: int) -> None:
        super().__init__()
        self.path = ""
        self.add_module("in", nn.Linear(d_model, 3 * d_model, bias=layer["bias"]))
        self.conv = CausalConv(d_model, layer["kernel"], layer["bias"])
        self.out = nn.Linear(d_model, d_model, bias=layer["bias"])

    def forward(self, x: Tensor, given: dict[str, Tensor], cache: Any = None) -> Tensor:
        b, c, v = run(self, "in", x).chunk(3, dim=-1)
        return self.out(c * self.conv(b * v, cache, self.path))


class Convolution(nn.Module):
    """DeBERTa-v2's: act(conv(x)) over a position and as many before it as behind it; padding counts as zeros.

    Bundles of channels are convolved one by one: FlopCounterMode counts too much in the backward pass of `groups`.
    """

    def __init__(self, layer: Config, d_model: int) -> None:
        super().__init__()
        self.kernel, self.groups, self.act = layer["kernel"], layer["groups"], ACTIVATIONS[layer["act"]]
        into = d_model // self.groups
        self.weight = nn.Parameter(torch.empty(d_model, into, self.kernel).normal_(std=(into * self.kernel) ** -0.5))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Tensor, given: dict[str, Tensor], cache: Any = None) -> Tensor:
        padding = given.get("own padding")
        if padding is not None:
            x = x.masked_fill(padding[:, 0].mT, 0.0)
        bundles = x.mT.chunk(self.groups, dim=1), self.weight.chunk(self.groups), self.bias.chunk(self.groups)
        found = [nn.functional.conv1d(*bundle, padding=self.kernel // 2) for bundle in zip(*bundles, strict=True)]
        return self.act(side_by_side(found, dim=1)).mT
