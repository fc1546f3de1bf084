"""Convolutions whose filters are not shared: every place has its own, and biases of its own (locally connected)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from archcalc.archs.network.convolution import Conv, finished, padded, taps_of
from archcalc.archs.network.layer import Trace, parts
from archcalc.core.count import product
from archcalc.core.ir import Module, Tensor, axes
from archcalc.core.roles import Role


@dataclass(frozen=True)
class LocalConv(Conv):
    """A matrix for each place: (places, channels · kernel, filters)."""

    spec_kind: ClassVar[str] = "local_conv"
    sides: tuple[int, ...] = ()  # of the map behind it

    @property
    def pads_apart(self) -> bool:
        return any(zeros for ends in self.padding for zeros in ends)

    def placed(self, sides: tuple[int, ...]) -> LocalConv:
        return replace(self, sides=sides)

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        x = padded(m, x, self.padding, trace) if self.pads_apart else x
        batch, channels, before = parts(x)
        windows = self.windows(tuple(int(side.size) for side in before))
        sides = trace.sides(before, tuple(window.places for window in windows))
        taps, out = taps_of(self.kernel), trace.channels(self.out, len(sides))
        seen = m.record("view", x, to=axes(batch, channels, *sides, *taps), windows=windows)
        rows = m.record("reorder", seen, to=axes(sides, batch, (channels, *taps)))
        each = product(dim.size for dim in (*taps, channels)) * out.size
        elements = product(side.size for side in sides) * each
        weight = m.param("weight", sides, (channels, *taps), out, elements=elements, role=Role.CONVOLUTION)
        y = m.record("contract", rows, weight, to=axes(sides, batch, out), over=(channels, *taps))
        y = m.record("reorder", y, to=axes(batch, out, *sides))
        if self.bias:
            y = m.record("add", y, m.param("bias", out, *sides, role=Role.BIAS))
        return finished(m, y, self.norm, self.act, trace)
