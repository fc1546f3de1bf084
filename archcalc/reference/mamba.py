"""Mamba in plain PyTorch: a selective state-space layer, with step size, B and C computed from each token."""

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - as all of PyTorch's users write it
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.conv import CausalConv
from archcalc.reference.layers import run
from archcalc.reference.scan import Found, as_kernel, keep, known, scan


class Mamba(nn.Module):
    """A short convolution, then the states, opened or shut by a gate."""

    def __init__(self, layer: Config, d_model: int) -> None:
        super().__init__()
        self.layer = layer
        self.path, inner, state, rank = "", layer["inner"], layer["state"], layer["dt_rank"]
        self.add_module("in", nn.Linear(d_model, 2 * inner, bias=layer["bias"]))
        self.conv = CausalConv(inner, layer["conv"], layer["conv_bias"])
        self.select = nn.Linear(inner, rank + 2 * state, bias=False)
        if layer["norms"] != "none":
            for name, width in (("dt", rank), ("b", state), ("c", state)):
                self.add_module(f"{name}_norm", nn.RMSNorm(width, elementwise_affine=layer["norms"] == "rms"))
        self.dt = OfSlice(rank, inner)
        self.A_log = nn.Parameter(torch.zeros(inner, state))
        self.D = nn.Parameter(torch.ones(inner))
        self.out = nn.Linear(inner, d_model, bias=layer["out_bias"])

    def forward(self, x: Tensor, given: dict[str, Tensor], cache: Any = None) -> Tensor:
        x, gate = run(self, "in", x).chunk(2, dim=-1)
        u = F.silu(self.conv(x, cache, self.path))
        widths = (self.layer["dt_rank"], self.layer["state"], self.layer["state"])
        step, b, c = self.select(u).split(widths, dim=-1)
        step, b, c = (run(self, f"{name}_norm", one) for name, one in (("dt", step), ("b", b), ("c", c)))
        start = known(cache, f"{self.path}.state")
        y, last = as_kernel(selective_scan, u, self.dt(step), b, c, self.A_log, start)
        keep(cache, f"{self.path}.state", last)
        return self.out((y + self.D * u) * F.silu(gate))


class OfSlice(nn.Linear):
    """Reads a slice of wider vectors as one matrix: else PyTorch would choose another product where they lie apart."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.flatten(0, 1)).unflatten(0, x.shape[:2])


def selective_scan(u: Tensor, step: Tensor, b: Tensor, c: Tensor, rates: Tensor, start: Tensor | None) -> Found:
    """h = exp(Δ A) ∗ h + Δ B ∗ u and C · h for every position; `u` and Δ are (batch, seq, inner)."""
    step = F.softplus(step)[..., None]
    decay = torch.exp(step * -torch.exp(rates))
    states = scan(decay, step * b[:, :, None] * u[..., None], start)
    return (states @ c[..., None])[..., 0], states[:, -1]
