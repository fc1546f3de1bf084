"""A short convolution between two gates (LFM2): out(c ∗ conv(b ∗ v)), with b, c and v from one projection.

A depthwise causal convolution: its cache does not grow with the sequence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from archcalc.core.ir import Dim, Module, Tensor
from archcalc.core.splits import Piece, joined
from archcalc.layers.conv import causal_conv
from archcalc.layers.linear import linear
from archcalc.spec.workload import Workload


@dataclass(frozen=True)
class GatedConv:
    spec_kind: ClassVar[str] = "gated_conv"
    kernel: int
    bias: bool  # of both projections and the convolution

    def run(self, m: Module, x: Tensor, work: Workload) -> Tensor:
        batch, seq, d_model = x.dims
        each = Piece(d_model.size)  # every channel by itself, as in vLLM (mamba/short_conv.py)
        three = Dim("b_c_v", 3 * d_model.size, split=joined(each, each, each))
        made, channels = linear(m["in"], x, three, bias=self.bias), Dim("channels", d_model.size, split=joined(each))
        b, c, v = (made.seen_as(batch, seq, channels) for _ in "bcv")
        mixed = causal_conv(m["conv"], m.record("multiply", b, v), self.kernel, bias=self.bias, work=work)
        return linear(m["out"], m.record("multiply", c, mixed), d_model, bias=self.bias)
