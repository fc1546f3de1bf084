"""Convolutions along the sequence: a view of neighbouring positions, then a contraction."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.ir import Dim, Module, Role, Tensor, axes
from archcalc.core.positions import Positions
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


def conv(m: Module, x: Tensor, out: Dim, kernel: int, *, groups: int = 1, seq: Dim) -> Tensor:
    """A grouped convolution over `kernel` positions; `seq` is the number of output positions."""
    m.words.whole_sequence = CONVOLUTION
    batch, _, channels = x.dims
    group, into = Dim.of("groups", groups, copies=True), Dim.of("channels_in", channels.size // groups)
    each, taps = Dim.of("channels_out", out.size // groups), Dim.of("kernel", kernel)
    window = m.record("view", x, to=axes(batch, seq, group, into, taps))
    elements = taps.size * into.size * out.size
    weight = m.param("weight", (group, each), into, taps, elements=elements, role=Role.CONVOLUTION)
    y = m.record("contract", window, weight, to=axes(batch, seq, (group, each)), over=(into, taps))
    return m.record("add", y.seen_as(batch, seq, out), m.param("bias", out, role=Role.BIAS))
