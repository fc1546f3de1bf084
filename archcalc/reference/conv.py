"""The short causal depthwise convolution before a recurrent state."""

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - as all of PyTorch's users write it
from torch import Tensor, nn

from archcalc.reference.layers import weight_if
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
