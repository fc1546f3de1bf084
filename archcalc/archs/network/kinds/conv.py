"""Convolutions along one, two or three sides: `{conv: 64, kernel: 7, stride: 2, padding: 3}`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from archcalc.archs.network.kinds.activation import Act, Activation, act_behind
from archcalc.archs.network.kinds.norm import Norm, NormFields, norm_behind
from archcalc.archs.network.shape import SIDES, Shape
from archcalc.archs.network.sizes import Groups, Paddings, Pair, Sizes, for_each_side, paddings, same_padding
from archcalc.archs.network.trace import Trace, parts
from archcalc.core.count import product
from archcalc.core.derived import Derived
from archcalc.core.ir import Axis, Dim, Module, Tensor, axes
from archcalc.core.roles import Role
from archcalc.core.windows import Ends, Window
from archcalc.spec.node import Node, Size

if TYPE_CHECKING:
    from archcalc.archs.network.place import Place
    from archcalc.archs.network.reader import Reader

WORDS = ("conv",)
MAY_STAND_ALONE = False


class ConvFields(Node):
    main: ClassVar[str] = "channels"
    channels: Size = Field(examples=[64], description="Channels that come out: the number of filters.")
    kernel: Sizes = Field(examples=[3], description="Size of the filters: one number, or one for each side.")
    stride: Sizes = Field(
        examples=[2],
        default=1,
        description="How many positions the kernel moves from one output to the next; 2 halves the map.",
    )
    padding: Paddings = Field(
        examples=["same"],
        default=0,
        description="Zeros at each end; `same` for ⌈size/stride⌉ outputs, `valid` for no zeros.",
    )
    dilation: Sizes = Field(
        examples=[2],
        default=1,
        description="The distance between neighbouring weights of the kernel, in positions; 1: they are contiguous.",
    )
    groups: Groups = Field(
        examples=[32], default=1, description="Groups of channels with filters of their own, or `depthwise`."
    )
    bias: bool = Field(examples=[False], default=True, description="A learned number added to each channel.")
    norm: NormFields | None = Field(examples=["batch"], default=None, description="The norm behind it.")
    act: Act | None = Field(examples=["relu"], default=None, description="The activation behind it, after the norm.")


@dataclass(frozen=True)
class Conv:
    spec_kind: ClassVar[str] = "conv"
    into: int
    out: int
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[Pair, ...]
    dilation: tuple[int, ...]
    groups: int
    bias: bool
    norm: Norm | None
    act: Activation | None

    @property
    def pads_apart(self) -> bool:
        """Unequal zeros are added by a layer of their own: PyTorch's convolutions add as many before as behind."""
        return any(before != after for before, after in self.padding)

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        x = padded(m, x, self.padding, trace) if self.pads_apart else x
        y = self._convolved(m, x, trace)
        return finished(m, y, self.norm, self.act, trace)

    def windows(self, sizes: tuple[int, ...]) -> tuple[Window, ...]:
        zeros = ((0, 0),) * len(sizes) if self.pads_apart else self.padding
        return tuple(
            Window(size, kernel, stride, *ends, dilation)
            for size, kernel, stride, ends, dilation in zip(
                sizes, self.kernel, self.stride, zeros, self.dilation, strict=True
            )
        )

    def _convolved(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        """A window onto neighbouring places, then a contraction over the window and the channels of a group."""
        batch, channels, before = parts(x)
        windows = self.windows(tuple(int(side.size) for side in before))
        sides = trace.sides(before, tuple(window.places for window in windows))
        taps = taps_of(self.kernel)
        out = trace.channels(self.out, len(sides))
        group, into, each = grouped(self.groups, channels, out)
        seen = m.record("view", x, to=axes(batch, *group, into, *sides, *taps), windows=windows)
        elements = product(tap.size for tap in taps) * into.size * out.size
        weight = m.param("weight", (*group, each), into, *taps, elements=elements, role=Role.CONVOLUTION)
        y = m.record("contract", seen, weight, to=axes(batch, (*group, each), *sides), over=(into, *taps))
        y = y.seen_as(batch, out, *sides)
        return m.record("add", y, m.param("bias", out, role=Role.BIAS)) if self.bias else y


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
    y = norm.run(m["norm"], y, trace) if norm else y
    if act is None:
        return y
    return act.run(m["act"] if act.slopes else m, y, trace)


FIELDS = ConvFields


def read(word: str, fields: ConvFields, shape: Shape, place: Place, reader: Reader) -> tuple[Conv, Shape]:
    need_map(word, shape, place)
    number = len(shape.sides)
    kernel, stride, dilation = (
        for_each_side(getattr(fields, name), number, place, name) for name in ("kernel", "stride", "dilation")
    )
    made = Conv(
        into=shape.channels,
        out=fields.channels,
        kernel=kernel,
        stride=stride,
        padding=_padding(fields, shape, (kernel, stride, dilation), place),
        dilation=dilation,
        groups=groups_of(fields.groups, shape.channels, fields.channels, place),
        bias=fields.bias,
        norm=None,
        act=act_behind(fields.act),
    )
    sizes = tuple(size + sum(ends) for size, ends in zip(shape.sides, made.padding, strict=True))
    windows = made.windows(sizes if made.pads_apart else shape.sides)
    behind = Shape(fields.channels, places_of(windows, place))
    return replace(made, norm=norm_behind(fields.norm, behind, place)), behind


def _padding(fields: ConvFields, shape: Shape, sizes: tuple[tuple[int, ...], ...], place: Place) -> tuple[Pair, ...]:
    if fields.padding == "valid":
        return ((0, 0),) * len(shape.sides)
    if fields.padding == "same":
        return tuple(same_padding(*each) for each in zip(shape.sides, *sizes, strict=True))
    return paddings(fields.padding, len(shape.sides), place)


def need_map(word: str, shape: Shape, place: Place) -> None:
    if not shape.sides:
        fact = f"{word} needs a map, and a vector of {shape.channels} numbers comes in"
        raise place.wrong(fact, "give `input` sides, such as 3 × 224 × 224, or `reshape` the vector before", word)


def groups_of(said: int | str, into: int, out: int, place: Place) -> int:
    groups = Derived(into) if isinstance(said, str) else said
    for what, channels in (("come in", into), ("come out", out)):
        if channels % groups:
            fact = f"{groups} groups, but {channels} channels {what}"
            raise place.wrong(fact, "use a number of groups that divides both", "groups")
    return groups


def places_of(windows: tuple[Any, ...], place: Place) -> tuple[int, ...]:
    """The sides behind a layer; a window that is longer than the map is refused."""
    for window in windows:
        if window.places < 1:
            fact = f"the window does not fit: {window.worked}"
            raise place.wrong(fact, "use a smaller kernel, more padding, or a larger input", "kernel")
    return tuple(window.places for window in windows)
