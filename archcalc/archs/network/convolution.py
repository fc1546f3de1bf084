"""What a convolution computes: windows onto neighbouring places, contracted with filters; its norm, its activation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from archcalc.archs.network.kinds.activation import Activation
from archcalc.archs.network.kinds.norm import Norm
from archcalc.archs.network.layer import SIDES, Trace, parts
from archcalc.archs.network.values import Pair
from archcalc.core.count import product
from archcalc.core.ir import Axes, Axis, Dim, Module, Tensor, axes
from archcalc.core.roles import Role
from archcalc.core.windows import Ends, Window


class Met(NamedTuple):
    """The dims that a convolution meets: groups of channels, if there are several, and the channels of one group."""

    batch: Dim
    channels: Dim
    out: Dim
    group: Axis
    into: Dim
    each: Dim
    sides: tuple[Dim, ...]  # of the map behind it
    taps: tuple[Dim, ...]
    windows: tuple[Any, ...]

    @property
    def behind(self) -> Axes:
        return axes(self.batch, (*self.group, self.each), *self.sides)


@dataclass(frozen=True)
class Filters:
    """What convolutions and transposed ones have in common."""

    into: int
    out: int
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int
    bias: bool
    norm: Norm | None
    act: Activation | None

    def windows(self, sizes: tuple[int, ...]) -> tuple[Any, ...]:
        """What the kernel covers along each side of that size."""
        raise NotImplementedError

    def filtered(self, m: Module, x: Tensor, met: Met) -> Tensor:
        """The contraction with the weights, recorded."""
        raise NotImplementedError

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        batch, channels, before = parts(x)
        windows = self.windows(tuple(int(side.size) for side in before))
        sides = trace.sides(before, tuple(window.places for window in windows))
        out = trace.channels(self.out, len(sides))
        y = self.filtered(
            m, x, Met(batch, channels, out, *grouped(self.groups, channels, out), sides, taps_of(self.kernel), windows)
        )
        y = y.seen_as(batch, out, *sides)
        if self.bias:
            y = m.record("add", y, m.param("bias", out, role=Role.BIAS))
        return finished(m, y, self.norm, self.act, trace)


@dataclass(frozen=True)
class Conv(Filters):
    spec_kind: ClassVar[str] = "conv"
    padding: tuple[Pair, ...] = ()

    @property
    def pads_apart(self) -> bool:
        """Unequal zeros are added by a layer of their own: PyTorch's convolutions add as many before as behind."""
        return any(before != after for before, after in self.padding)

    def placed(self, sides: tuple[int, ...]) -> Conv:
        """Told the sides of the map behind it."""
        return self

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        return super().run(m, padded(m, x, self.padding, trace) if self.pads_apart else x, trace)

    def windows(self, sizes: tuple[int, ...]) -> tuple[Window, ...]:
        zeros = ((0, 0),) * len(sizes) if self.pads_apart else self.padding
        every = zip(sizes, self.kernel, self.stride, zeros, self.dilation, strict=True)
        return tuple(Window(size, kernel, stride, *ends, dilation) for size, kernel, stride, ends, dilation in every)

    def filtered(self, m: Module, x: Tensor, met: Met) -> Tensor:
        """A window onto neighbouring places, then a contraction over the window and the channels of a group."""
        into, taps = met.into, met.taps
        seen = m.record("view", x, to=axes(met.batch, *met.group, into, *met.sides, *taps), windows=met.windows)
        elements = product(tap.size for tap in taps) * into.size * met.out.size
        weight = m.param("weight", (*met.group, met.each), into, *taps, elements=elements, role=Role.CONVOLUTION)
        return m.record("contract", seen, weight, to=met.behind, over=(into, *taps))


def taps_of(kernel: tuple[int, ...]) -> tuple[Dim, ...]:
    """The dims of a filter."""
    names = SIDES[len(kernel)]
    return tuple(Dim.of(f"kernel_{name}", size) for name, size in zip(names, kernel, strict=True))


def grouped(groups: int, channels: Dim, out: Dim) -> tuple[Axis, Dim, Dim]:
    """The dim of groups, if there are several, and the channels of a group that go in and come out."""
    if groups == 1:
        return (), channels, out
    into, each = channels.size // groups, out.size // groups
    return (Dim.of("groups", groups),), Dim.of("channels_in", int(into)), Dim.of("channels_out", int(each))


def padded(m: Module, x: Tensor, padding: tuple[Pair, ...], trace: Trace) -> Tensor:
    """Zeros around the map, in a copy."""
    batch, channels, sides = parts(x)
    longer = tuple(Ends(int(side.size), *zeros) for side, zeros in zip(sides, padding, strict=True))
    behind = trace.sides(sides, tuple(side.places for side in longer))
    return m.record("pad", x, to=axes(batch, channels, *behind), windows=longer)


def finished(m: Module, y: Tensor, norm: Norm | None, act: Activation | None, trace: Trace) -> Tensor:
    """What stands behind a layer in the same item: its norm, its activation."""
    if norm:
        y = norm.run(m["norm"], y, trace)
    if act is None:
        return y
    return act.run(m["act"] if act.slopes else m, y, trace)
