"""Griffin's recurrent block in plain PyTorch: a gated linear recurrence (RG-LRU) after a short convolution."""

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - as all of PyTorch's users write it
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.conv import CausalConv
from archcalc.reference.layers import ACTIVATIONS, run
from archcalc.reference.scan import keep, known, scan

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
