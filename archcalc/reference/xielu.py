"""xIELU, an activation with two learned numbers (Huang and Schlag 2024, arXiv:2411.13010), as one kernel."""

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - as all of PyTorch's users write it
from torch import Tensor, nn

LINEAR = 0.5  # the share of x on both sides of 0


class Xielu(nn.Module):
    """Above 0 a share of x², below 0 one of eˣ − 1 − x."""

    def __init__(self) -> None:
        super().__init__()
        self.alpha_p, self.alpha_n = nn.Parameter(torch.zeros(1)), nn.Parameter(torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = Kernel.apply(x, self.alpha_p, self.alpha_n)
        return found


class Kernel(torch.autograd.Function):
    """Only the input is saved for backward."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, alpha_p: Tensor, alpha_n: Tensor) -> Tensor:
        ctx.save_for_backward(x, alpha_p, alpha_n)
        above, below = _sides(x)
        return F.softplus(alpha_p) * above + (LINEAR + F.softplus(alpha_n)) * below + LINEAR * x

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        (x, alpha_p, alpha_n), (gradient,) = ctx.saved_tensors, gradients
        above, below = _sides(x)
        steep = 2 * F.softplus(alpha_p) * x.clamp(min=0) + (LINEAR + F.softplus(alpha_n)) * x.clamp(max=0).expm1()
        to_numbers = [(gradient * side).sum().view(1) for side in (above, below)]
        shares = alpha_p.sigmoid(), alpha_n.sigmoid()
        return gradient * (steep + LINEAR), to_numbers[0] * shares[0], to_numbers[1] * shares[1]


def _sides(x: Tensor) -> tuple[Tensor, Tensor]:
    """x² above 0, and eˣ − 1 − x below it."""
    negative = x.clamp(max=0)
    return x.clamp(min=0).square(), negative.expm1() - negative
