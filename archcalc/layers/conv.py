"""Convolutions along the sequence: a view of neighbouring positions, then a contraction."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.ir import Dim, Module, Role, Tensor, axes
from archcalc.core.positions import Positions
from archcalc.core.splits import Piece, joined
from archcalc.layers.linear import linear
from archcalc.spec.workload import Workload
from archcalc.styles.activations import activated

PADDING = Assumption(Topic.COST, "causal convolutions: positions that PyTorch pads, computes and drops are not counted")
CONVOLUTION = "a convolution along the sequence"


def causal_conv(m: Module, x: Tensor, kernel: int, *, bias: bool, work: Workload) -> Tensor:
    """A causal depthwise convolution over `kernel` positions; the last `kernel - 1` are cached for the next token."""
    m.words.work_notes.append(PADDING)
    m.words.whole_sequence = CONVOLUTION
    batch, seq, *channels = x.dims
    axis, taps = tuple(channels), Dim.of("conv", kernel)
    if work.keeps_cache:
        m.record("append", x, to=axes(batch, axis, Dim("conv_state", taps.size - 1, positions=Positions.TAIL)))
    window = m.record("view", x, to=axes(batch, seq, axis, taps))
    weight = m.param("weight", axis, Dim.of("one", 1), taps, role=Role.CONVOLUTION)
    y = m.record("contract", window, weight, to=x.axes, over=(taps,))
    return m.record("add", y, m.param("bias", axis, role=Role.BIAS)) if bias else y


@dataclass(frozen=True)
class Convolution:
    """act(conv(x)), centred: as many positions before as after."""

    spec_kind: ClassVar[str] = "conv"
    kernel: int
    groups: int
    act: str

    def run(self, m: Module, x: Tensor, work: Workload) -> Tensor:
        _, seq, d_model = x.dims
        return activated(m, conv(m, x, d_model, self.kernel, groups=self.groups, seq=seq), self.act)

    def within(self, d_model: int) -> Convolution:
        """In a small model, a number of groups that divides both widths."""
        return replace(self, groups=math.gcd(self.groups, d_model))


def conv(
    m: Module,
    x: Tensor,
    out: Dim,
    kernel: int,
    *,
    groups: int = 1,
    seq: Dim,
    bias: bool = True,
    weight_norm: bool = False,
) -> Tensor:
    """A grouped convolution over `kernel` positions; `seq` is the number of output positions. With a weight norm every
    tap has a length and a direction, and the weight is made of both."""
    m.words.whole_sequence = CONVOLUTION
    batch, _, channels = x.dims
    group, into = Dim.of("groups", groups, copies=True), Dim.of("channels_in", channels.size // groups)
    each, taps = Dim.of("channels_out", out.size // groups), Dim.of("kernel", kernel)
    window = m.record("view", x, to=axes(batch, seq, group, into, taps))
    elements = taps.size * into.size * out.size
    name = "direction" if weight_norm else "weight"
    weight: Tensor = m.param(name, (group, each), into, taps, elements=elements, role=Role.CONVOLUTION)
    if weight_norm:
        weight = m.record("weight_norm", weight, m.param("length", taps, role=Role.NORM))
    y = m.record("contract", window, weight, to=axes(batch, seq, (group, each)), over=(into, taps))
    y = y.seen_as(batch, seq, out)
    return m.record("add", y, m.param("bias", out, role=Role.BIAS)) if bias else y


@dataclass(frozen=True)
class GatedConv:
    """A short convolution between two gates (LFM2): out(c ∗ conv(b ∗ v)), with b, c and v from one projection. It is
    depthwise and causal: its cache does not grow with the sequence."""

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
