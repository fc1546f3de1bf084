"""Transposed convolutions, which enlarge a map: `{transposed_conv: 256, kernel: 4, stride: 2, padding: 1}`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from archcalc.archs.network.kinds.activation import Act
from archcalc.archs.network.kinds.conv import Filters, Met, filters_of, places_of
from archcalc.archs.network.kinds.norm import NormFields, norm_behind
from archcalc.archs.network.shape import Shape
from archcalc.archs.network.sizes import FromZero, Groups, Sizes
from archcalc.core.count import product
from archcalc.core.ir import Module, Tensor
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
class TransposedConv(Filters):
    spec_kind: ClassVar[str] = "transposed_conv"
    padding: int = 0
    output_padding: int = 0

    def windows(self, sizes: tuple[int, ...]) -> tuple[Spread, ...]:
        every = zip(sizes, self.kernel, self.stride, self.dilation, strict=True)
        ends = self.padding, self.output_padding
        return tuple(Spread(size, kernel, stride, *ends, dilation) for size, kernel, stride, dilation in every)

    def filtered(self, m: Module, x: Tensor, met: Met) -> Tensor:
        """Every place of the map is spread over the places that its window covers."""
        elements = product(tap.size for tap in met.taps) * met.channels.size * met.each.size
        first = (*met.group, met.into)
        weight = m.param("weight", first, met.each, *met.taps, elements=elements, role=Role.CONVOLUTION)
        seen, over = x.seen_as(met.batch, *met.group, met.into, *x.dims[2:]), (met.into, *met.taps)
        return m.record("contract", seen, weight, to=met.behind, over=over, windows=met.windows)


FIELDS = TransposedConvFields


def read(
    word: str, fields: TransposedConvFields, shape: Shape, place: Place, reader: Reader
) -> tuple[TransposedConv, Shape]:
    filters = filters_of(word, fields, shape, place)
    if fields.output_padding >= max(*filters.stride, *filters.dilation):
        fact = f"output_padding {fields.output_padding} is not smaller than the stride or the dilation"
        raise place.wrong(fact, "PyTorch refuses it too; use a smaller one", "output_padding")
    made = TransposedConv(**vars(filters), padding=fields.padding, output_padding=fields.output_padding)
    behind = Shape(fields.channels, places_of(made.windows(shape.sides), place))
    return replace(made, norm=norm_behind(fields.norm, behind, place)), behind
