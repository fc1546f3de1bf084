"""Transposed convolutions, which enlarge a map: `{transposed_conv: 256, kernel: 4, stride: 2, padding: 1}`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from archcalc.archs.network.convolution import Filters, Met
from archcalc.archs.network.kinds.activation import Act
from archcalc.archs.network.kinds.conv import filters_of, places_of
from archcalc.archs.network.kinds.norm import NormFields, norm_behind
from archcalc.archs.network.layer import Place, Shape
from archcalc.archs.network.values import FromZero, Groups, Sizes
from archcalc.core.count import product
from archcalc.core.ir import Module, Tensor
from archcalc.core.roles import Role
from archcalc.core.windows import Spread
from archcalc.spec.node import Node, Size, field

WORDS = ("transposed_conv",)


class TransposedConvFields(Node):
    main: ClassVar[str] = "channels"
    channels: Size = field(..., "Channels that come out.", example=64)
    kernel: Sizes = field(..., "Size of the filters: one number, or one for each side.", example=4)
    stride: Sizes = field(
        1, "How many positions of the output the kernel moves from one input to the next; 2 doubles the map.", example=2
    )
    padding: FromZero = field(0, "Positions that are cut off at both ends of the output.", example=1)
    output_padding: FromZero = field(
        0,
        "Positions that the output has more at its far end, fewer than the stride or the dilation.",
        example=1,
        beside={"stride": 2},
    )
    dilation: Sizes = field(
        1, "The distance between neighbouring weights of the kernel, in positions; 1: they are contiguous.", example=2
    )
    groups: Groups = field(1, "Groups of channels with filters of their own, or `depthwise`.", example=2)
    bias: bool = field(True, "A learned number added to each channel.", example=False)
    norm: NormFields | None = field(None, "The norm behind it.", example="batch")
    act: Act | None = field(None, "The activation behind it, after the norm.", example="relu")


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


def read(word: str, fields: TransposedConvFields, shape: Shape, place: Place) -> tuple[TransposedConv, Shape]:
    filters = filters_of(word, fields, shape, place)
    if fields.output_padding >= max(*filters.stride, *filters.dilation):
        fact = f"output_padding {fields.output_padding} is not smaller than the stride or the dilation"
        raise place.wrong(fact, "PyTorch refuses it too; use a smaller one", "output_padding")
    made = TransposedConv(**vars(filters), padding=fields.padding, output_padding=fields.output_padding)
    behind = Shape(fields.channels, places_of(made.windows(shape.sides), place))
    return replace(made, norm=norm_behind(fields.norm, behind, place)), behind
