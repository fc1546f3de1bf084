"""Transposed convolutions, which enlarge a map: `{transposed_conv: 256, kernel: 4, stride: 2, padding: 1}`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from archcalc.archs.network.kinds.activation import Act, Activation, act_behind
from archcalc.archs.network.kinds.conv import finished, grouped, groups_of, need_map, places_of, taps_of
from archcalc.archs.network.kinds.norm import Norm, NormFields, norm_behind
from archcalc.archs.network.shape import Shape
from archcalc.archs.network.sizes import FromZero, Groups, Sizes, for_each_side
from archcalc.archs.network.trace import Trace, parts
from archcalc.core.count import product
from archcalc.core.ir import Module, Tensor, axes
from archcalc.core.roles import Role
from archcalc.core.windows import Spread
from archcalc.spec.node import Node, Size

if TYPE_CHECKING:
    from archcalc.archs.network.place import Place
    from archcalc.archs.network.reader import Reader

WORDS = ("transposed_conv",)
MAY_STAND_ALONE = False


class TransposedConvFields(Node):
    main: ClassVar[str] = "channels"
    channels: Size = Field(examples=[64], description="Channels that come out.")
    kernel: Sizes = Field(examples=[4], description="Size of the filters: one number, or one for each side.")
    stride: Sizes = Field(
        examples=[2],
        default=1,
        description="How many positions of the output the kernel moves from one input to the next; 2 doubles the map.",
    )
    padding: FromZero = Field(
        examples=[1], default=0, description="Positions that are cut off at both ends of the output."
    )
    output_padding: FromZero = Field(
        examples=[1],
        default=0,
        description="Positions that the output has more at its far end, fewer than the stride or the dilation.",
        json_schema_extra={"beside": {"stride": 2}},
    )
    dilation: Sizes = Field(
        examples=[2],
        default=1,
        description="The distance between neighbouring weights of the kernel, in positions; 1: they are contiguous.",
    )
    groups: Groups = Field(
        examples=[2], default=1, description="Groups of channels with filters of their own, or `depthwise`."
    )
    bias: bool = Field(examples=[False], default=True, description="A learned number added to each channel.")
    norm: NormFields | None = Field(examples=["batch"], default=None, description="The norm behind it.")
    act: Act | None = Field(examples=["relu"], default=None, description="The activation behind it, after the norm.")


@dataclass(frozen=True)
class TransposedConv:
    spec_kind: ClassVar[str] = "transposed_conv"
    into: int
    out: int
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: int
    output_padding: int
    dilation: tuple[int, ...]
    groups: int
    bias: bool
    norm: Norm | None
    act: Activation | None

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        batch, channels, before = parts(x)
        windows = self.windows(tuple(int(side.size) for side in before))
        sides = trace.sides(before, tuple(window.places for window in windows))
        taps = taps_of(self.kernel)
        out = trace.channels(self.out, len(sides))
        group, into, each = grouped(self.groups, channels, out)
        elements = product(tap.size for tap in taps) * channels.size * each.size
        weight = m.param("weight", (*group, into), each, *taps, elements=elements, role=Role.CONVOLUTION)
        seen = x.seen_as(batch, *group, into, *before)
        over = (into, *taps)
        y = m.record("contract", seen, weight, to=axes(batch, (*group, each), *sides), over=over, windows=windows)
        y = y.seen_as(batch, out, *sides)
        y = m.record("add", y, m.param("bias", out, role=Role.BIAS)) if self.bias else y
        return finished(m, y, self.norm, self.act, trace)

    def windows(self, sizes: tuple[int, ...]) -> tuple[Spread, ...]:
        return tuple(
            Spread(size, kernel, stride, self.padding, self.output_padding, dilation)
            for size, kernel, stride, dilation in zip(sizes, self.kernel, self.stride, self.dilation, strict=True)
        )


FIELDS = TransposedConvFields


def read(
    word: str, fields: TransposedConvFields, shape: Shape, place: Place, reader: Reader
) -> tuple[TransposedConv, Shape]:
    need_map(word, shape, place)
    number = len(shape.sides)
    kernel, stride, dilation = (
        for_each_side(getattr(fields, name), number, place, name) for name in ("kernel", "stride", "dilation")
    )
    if fields.output_padding >= max(*stride, *dilation):
        fact = f"output_padding {fields.output_padding} is not smaller than the stride or the dilation"
        raise place.wrong(fact, "PyTorch refuses it too; use a smaller one", "output_padding")
    groups = groups_of(fields.groups, shape.channels, fields.channels, place)
    numbers = (shape.channels, fields.channels, kernel, stride, fields.padding, fields.output_padding, dilation)
    bare = TransposedConv(*numbers, groups, fields.bias, None, act_behind(fields.act))
    behind = Shape(fields.channels, places_of(bare.windows(shape.sides), place))
    made = TransposedConv(*numbers, groups, fields.bias, norm_behind(fields.norm, behind, place), bare.act)
    return made, behind
