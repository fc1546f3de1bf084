"""A short convolution between two gates, as LFM2 has it, in plain PyTorch."""

from typing import Any

from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.conv import CausalConv


class GatedConv(nn.Module):
    """One projection for both gates and what is convolved; `path` tells what it keeps from that of other layers."""

    def __init__(self, layer: Config, d_model: int) -> None:
        super().__init__()
        self.path = ""
        self.add_module("in", nn.Linear(d_model, 3 * d_model, bias=layer["bias"]))
        self.conv = CausalConv(d_model, layer["kernel"], layer["bias"])
        self.out = nn.Linear(d_model, d_model, bias=layer["bias"])

    def forward(self, x: Tensor, given: dict[str, Tensor], cache: Any = None) -> Tensor:
        b, c, v = self.get_submodule("in")(x).chunk(3, dim=-1)
        made: Tensor = self.out(c * self.conv(b * v, cache, self.path))
        return made
