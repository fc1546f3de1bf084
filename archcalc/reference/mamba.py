"""Mamba, Mamba-2 (SSD) and Griffin's recurrent block in plain PyTorch: layers whose states decay by what they read.

Step size, B and C are computed from each token; Mamba-2 has one decay per head, so that chunks are computed by matrix
products. Griffin's is a gated linear recurrence (RG-LRU) after a short convolution.
"""

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - as all of PyTorch's users write it
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.conv import CausalConv
from archcalc.reference.layers import ACTIVATIONS, Weight, run
from archcalc.reference.scan import (
    Found,
    behind_state,
    by_length,
    chunked,
    decays_between,
    joined,
    keep,
    known,
    passed_within,
    scan,
)


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
        y = behind_state(cache, self.path, selective_scan, u, self.dt(step), b, c, self.A_log)
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


class Mamba2(nn.Module):
    """One projection for gate, values, B, C and Δ; a short convolution; the states; a norm behind the gate."""

    def __init__(self, layer: Config, d_model: int) -> None:
        super().__init__()
        self.path = ""
        inner, heads, self.chunk = layer["inner"], layer["heads"], layer["chunk"]
        shared = layer["groups"] * layer["state"]
        self.mixed, self.heads, self.groups = (inner, shared, shared), heads, layer["groups"]
        self.widths = (inner, sum(self.mixed), heads)
        self.add_module("in", nn.Linear(d_model, sum(self.widths), bias=layer["bias"]))
        self.conv = CausalConv(sum(self.mixed), layer["conv"], layer["conv_bias"])
        self.dt_bias, self.A_log = (nn.Parameter(torch.zeros(heads)) for _ in range(2))
        self.D = nn.Parameter(torch.ones(heads))
        if layer["norm_groups"] == 1:
            self.norm: nn.Module = nn.RMSNorm(inner)
        elif layer["norm_groups"]:
            self.norm = GroupedNorm(inner, layer["norm_groups"])
        self.out = nn.Linear(inner, d_model, bias=layer["out_bias"])

    def forward(self, x: Tensor, given: dict[str, Tensor], cache: Any = None) -> Tensor:
        gate, mixed, step = run(self, "in", x).split(self.widths, dim=-1)
        values, b, c = F.silu(self.conv(mixed, cache, self.path)).split(self.mixed, dim=-1)
        values = values.unflatten(-1, (self.heads, -1))
        b, c = (one.unflatten(-1, (self.groups, -1)) for one in (b, c))
        y = behind_state(cache, self.path, self._mixed, values, b, c, step)
        y = (y + self.D[:, None] * values).flatten(2)
        return self.out(run(self, "norm", y * F.silu(gate)))

    def _mixed(self, values: Tensor, b: Tensor, c: Tensor, step: Tensor, start: Tensor | None) -> Found:
        """Groups of heads share B and C; a step Δ scales what a position adds, and how much it forgets."""
        b, c = (one.repeat_interleave(self.heads // self.groups, dim=2) for one in (b, c))
        step = F.softplus(step + self.dt_bias)
        mix = by_length(values, start, in_chunks, one_step)
        return mix(values * step[..., None], b, c, step * -torch.exp(self.A_log), start, self.chunk)


class GroupedNorm(Weight):
    """RMS norm of each share of the channels by itself, then a weight for every channel."""

    def __init__(self, width: int, groups: int) -> None:
        super().__init__(width, start=torch.ones)
        self.groups = groups

    def forward(self, x: Tensor) -> Tensor:
        grouped = x.unflatten(-1, (self.groups, -1))
        return F.rms_norm(grouped, grouped.shape[-1:]).flatten(2) * self.weight


def one_step(values: Tensor, b: Tensor, c: Tensor, decay: Tensor, start: Tensor, chunk: int) -> Found:
    """The state of every head, (head_dim, state), decayed and added to."""
    added = values[:, 0, :, :, None] * b[:, 0, :, None]
    state = start * torch.exp(decay[:, 0])[..., None, None] + added
    return (state @ c[:, 0, :, :, None])[:, None, :, :, 0], state


def in_chunks(values: Tensor, b: Tensor, c: Tensor, decay: Tensor, start: Tensor | None, chunk: int) -> Found:
    """`values` is (batch, seq, heads, head_dim), `b` and `c` (batch, seq, heads, state), `decay` a logarithm."""
    length = values.shape[1]
    values, b, c = (chunked(one, chunk) for one in (values, b, c))  # (batch, heads, chunks, chunk, width)
    passed = passed_within(decay, chunk)
    to_come = torch.exp(passed[..., -1:] - passed)
    left = values.mT @ (b * to_come[..., None])  # what each chunk adds to the state
    if start is None:
        start = torch.zeros_like(left[:, :, 0])
    left = torch.cat((start[:, :, None], left), dim=2)
    between = decays_between(F.pad(passed[..., -1], (1, 0)).cumsum(-1))
    # before each chunk and after the last: all that was left before, each decayed by what lies between
    states = (between @ left.flatten(3)).unflatten(-1, left.shape[3:])
    across = c @ states[:, :, :-1].mT * torch.exp(passed)[..., None]
    scores = c @ b.mT * decays_between(passed)
    found = across + scores @ values
    return joined(found, length), states[:, :, -1]


FORGETS = 8.0  # how fast it can


class ByHead(nn.Module):
    """A square matrix and a bias for each block of channels."""

    def __init__(self, heads: int, block: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(heads, block, block).normal_(std=block**-0.5))
        self.bias = nn.Parameter(torch.zeros(heads, block))

    def forward(self, x: Tensor) -> Tensor:
        """(batch, seq, channels) to (batch, seq, heads, block)."""
        heads, block = self.bias.shape
        rows = x.reshape(-1, heads, block).transpose(0, 1)
        return (rows @ self.weight).transpose(0, 1).contiguous().view(*x.shape[:2], heads, block) + self.bias


class RecurrentUnit(nn.Module):
    """The states stand beside a branch that opens or shuts them."""

    def __init__(self, layer: Config, d_model: int) -> None:
        super().__init__()
        self.path = ""
        width, self.act = layer["width"], ACTIVATIONS[layer["act"]]
        self.gate = nn.Linear(d_model, width)
        self.add_module("in", nn.Linear(d_model, width))
        self.conv = CausalConv(width, layer["conv"], True)
        self.input_gate = ByHead(layer["heads"], width // layer["heads"])
        self.recurrent_gate = ByHead(layer["heads"], width // layer["heads"])
        self.rate = nn.Parameter(torch.zeros(width))
        self.out = nn.Linear(width, d_model)

    def forward(self, x: Tensor, given: dict[str, Tensor], cache: Any = None) -> Tensor:
        gate = self.act(self.gate(x))
        u = self.conv(run(self, "in", x), cache, self.path)
        takes_in, forgets = (torch.sigmoid(one(u)).flatten(2) for one in (self.input_gate, self.recurrent_gate))
        decay = torch.exp(-FORGETS * F.softplus(self.rate) * forgets)
        taken_in = u * takes_in * torch.sqrt(1 - decay.square())
        states = scan(decay, taken_in, known(cache, f"{self.path}.state"))
        keep(cache, f"{self.path}.state", states[:, -1])
        return self.out(states * gate)
