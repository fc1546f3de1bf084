"""Layers that carry a state along the sequence, in plain PyTorch: Mamba, and Griffin's recurrent unit (RG-LRU)."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - as all of PyTorch's users write it
from torch import Tensor, nn

from archcalc.reference.layers import ACTIVATIONS, run

Config = dict[str, Any]
FORGETS = 8.0  # how fast an RG-LRU can


class CausalConv(nn.Module):
    """Every channel by itself, over a position and the few before it."""

    def __init__(self, channels: int, taps: int, bias: bool) -> None:
        super().__init__()
        self.taps, self.channels = taps, channels
        self.weight = nn.Parameter(torch.empty(channels, 1, taps).normal_(std=taps**-0.5))
        self.bias = nn.Parameter(torch.zeros(channels)) if bias else None

    def forward(self, x: Tensor, cache: Any, path: str) -> Tensor:
        """`x` is (batch, seq, channels); before the first position there are zeros, or what was kept."""
        x = x.transpose(1, 2)
        name = f"{path}.conv"
        before = cache[name] if cache is not None and name in cache else x.new_zeros(*x.shape[:2], self.taps - 1)
        x = torch.cat((before, x), dim=2)
        if cache is not None:
            cache[name] = x[:, :, x.shape[2] - self.taps + 1 :].clone()
        return F.conv1d(x, self.weight, self.bias, groups=self.channels).transpose(1, 2)


class Mamba(nn.Module):
    """A state for every channel that decays and takes in at rates which the token itself decides."""

    def __init__(self, part: Config, d_model: int) -> None:
        super().__init__()
        said = self.said = part["layer"]
        self.path, inner, state, rank = "", said["inner"], said["state"], said["dt_rank"]
        self.add_module("in", nn.Linear(d_model, 2 * inner, bias=said["bias"]))
        self.conv = CausalConv(inner, said["conv"], said["conv_bias"])
        self.select = nn.Linear(inner, rank + 2 * state, bias=False)
        if said["norms"] != "none":
            for name, width in (("dt", rank), ("b", state), ("c", state)):
                self.add_module(f"{name}_norm", nn.RMSNorm(width, elementwise_affine=said["norms"] == "rms"))
        self.dt = nn.Linear(rank, inner)
        self.A_log = nn.Parameter(torch.zeros(inner, state))
        self.D = nn.Parameter(torch.ones(inner))
        self.out = nn.Linear(inner, d_model, bias=said["bias"])

    def forward(self, x: Tensor, given: dict[str, Tensor], cache: Any = None) -> Tensor:
        x, gate = run(self, "in", x).chunk(2, dim=-1)
        u = F.silu(self.conv(x, cache, self.path))
        widths = (self.said["dt_rank"], self.said["state"], self.said["state"])
        step, b, c = self.select(u).split(widths, dim=-1)
        step, b, c = (run(self, f"{name}_norm", one) for name, one in (("dt", step), ("b", b), ("c", c)))
        y = self._scanned(u, F.softplus(self.dt(step)), b, c, cache)
        return self.out((y + self.D * u) * F.silu(gate))

    def _scanned(self, u: Tensor, step: Tensor, b: Tensor, c: Tensor, cache: Any) -> Tensor:
        decay = torch.exp(step[..., None] * -torch.exp(self.A_log))
        taken_in = step[..., None] * b[:, :, None] * u[..., None]
        name, found = f"{self.path}.state", []
        state = cache[name] if cache is not None and name in cache else torch.zeros_like(taken_in[:, 0])
        for place in range(u.shape[1]):
            state = decay[:, place] * state + taken_in[:, place]
            found.append((state @ c[:, place, :, None])[..., 0])
        if cache is not None:
            cache[name] = state
        return torch.stack(found, dim=1)


class ByHead(nn.Module):
    """A square matrix and a bias for each block of channels."""

    def __init__(self, heads: int, block: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(heads, block, block).normal_(std=block**-0.5))
        self.bias = nn.Parameter(torch.zeros(heads, block))

    def forward(self, x: Tensor) -> Tensor:
        """(batch, seq, heads, block)."""
        heads, block = self.bias.shape
        rows = x.reshape(-1, heads, block).transpose(0, 1)
        return (rows @ self.weight).transpose(0, 1).reshape(*x.shape[:2], heads, block) + self.bias


class RecurrentUnit(nn.Module):
    """A gated state for every channel, behind a short convolution, beside a branch that opens or shuts it."""

    def __init__(self, part: Config, d_model: int) -> None:
        super().__init__()
        said, self.path = part["layer"], ""
        width, self.act = said["width"], ACTIVATIONS[said["act"]]
        self.gate = nn.Linear(d_model, width)
        self.add_module("in", nn.Linear(d_model, width))
        self.conv = CausalConv(width, said["conv"], True)
        self.input_gate = ByHead(said["heads"], width // said["heads"])
        self.recurrent_gate = ByHead(said["heads"], width // said["heads"])
        self.rate = nn.Parameter(torch.zeros(width))
        self.out = nn.Linear(width, d_model)

    def forward(self, x: Tensor, given: dict[str, Tensor], cache: Any = None) -> Tensor:
        gate = self.act(self.gate(x))
        u = self.conv(run(self, "in", x), cache, self.path)
        takes_in, forgets = (torch.sigmoid(one(u)).flatten(2) for one in (self.input_gate, self.recurrent_gate))
        decay = torch.exp(-FORGETS * F.softplus(self.rate) * forgets)
        taken_in = u * takes_in * torch.sqrt(1 - decay.square())
        name, found = f"{self.path}.state", []
        state = cache[name] if cache is not None and name in cache else torch.zeros_like(u[:, 0])
        for place in range(u.shape[1]):
            state = decay[:, place] * state + taken_in[:, place]
            found.append(state)
        if cache is not None:
            cache[name] = state
        return self.out(torch.stack(found, dim=1) * gate)
