"""Convolutions along one, two or three sides: `{conv: 64, kernel: 7, stride: 2, padding: 3}`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from archcalc.archs.network.convolution import Conv, Filters
from archcalc.archs.network.kinds.activation import Act, act_behind
from archcalc.archs.network.kinds.norm import NormFields, norm_behind
from archcalc.archs.network.layer import Place, Shape
from archcalc.archs.network.local_conv import LocalConv
from archcalc.archs.network.values import (
    Groups,
    Paddings,
    Pair,
    Sizes,
    causal_padding,
    for_each_side,
    paddings,
    same_padding,
)
from archcalc.core.derived import Derived
from archcalc.spec.node import Node, Size, field

WORDS = ("conv",)


class ConvFields(Node):
    main: ClassVar[str] = "channels"
    channels: Size = field(..., "Channels that come out: the number of filters.", example=64)
    kernel: Sizes = field(..., "Size of the filters: one number, or one for each side.", example=3)
    stride: Sizes = field(
        1, "How many positions the kernel moves from one output to the next; 2 halves the map.", example=2
    )
    padding: Paddings = field(
        0,
        "Zeros at each end, or [before, after] for each side; `same` for ⌈size/stride⌉ outputs, `valid` for no zeros,"
        " `causal` for dilation · (kernel − 1) zeros before the first place alone.",
        example="same",
    )
    dilation: Sizes = field(
        1, "The distance between neighbouring weights of the kernel, in positions; 1: they are contiguous.", example=2
    )
    groups: Groups = field(1, "Groups of channels with filters of their own, or `depthwise`.", example=32)
    shared: bool = field(
        True, "All places have the same filters; if not, each has its own, and biases of its own.", example=False
    )
    bias: bool = field(True, "A learned number added to each channel.", example=False)
    norm: NormFields | None = field(None, "The norm behind it.", example="batch")
    act: Act | None = field(None, "The activation behind it, after the norm.", example="relu")


FIELDS = ConvFields


def read(word: str, fields: ConvFields, shape: Shape, place: Place) -> tuple[Conv, Shape]:
    filters = filters_of(word, fields, shape, place)
    made = _kind(fields, place)(**vars(filters), padding=_zeros(fields.padding, filters, shape, place))
    sizes = tuple(size + sum(ends) for size, ends in zip(shape.sides, made.padding, strict=True))
    windows = made.windows(sizes if made.pads_apart else shape.sides)
    behind = Shape(fields.channels, places_of(windows, place))
    return replace(made.placed(behind.sides), norm=norm_behind(fields.norm, behind, place)), behind


def _kind(fields: ConvFields, place: Place) -> type[Conv]:
    """Filters for all places, or of each place's own."""
    if fields.shared:
        return Conv
    for name in ("groups", "dilation"):
        if name in fields.model_fields_set:
            raise place.wrong(f"filters that are not shared have no {name}", "take it out", name)
    return LocalConv


def _zeros(said: Any, filters: Filters, shape: Shape, place: Place) -> tuple[Pair, ...]:
    """Before and behind each side, as the word or the numbers of `padding` say."""
    if said == "same":
        every = zip(shape.sides, filters.kernel, filters.stride, filters.dilation, strict=True)
        return tuple(same_padding(*each) for each in every)
    if said == "causal":
        if len(shape.sides) > 1:
            fact = f"causal padding is for one side, and a map of {shape} comes in"
            raise place.wrong(fact, "give [before, after] for each side, such as [[2, 0], [1, 1]]", "padding")
        return (causal_padding(filters.kernel[0], filters.dilation[0]),)
    return paddings(0 if said == "valid" else said, len(shape.sides), place)


def filters_of(word: str, fields: Any, shape: Shape, place: Place) -> Filters:
    """Of either kind's fields, all but the norm, which needs to know the map behind them."""
    need_map(word, shape, place)
    kernel, stride, dilation = (
        for_each_side(getattr(fields, name), len(shape.sides), place, name) for name in ("kernel", "stride", "dilation")
    )
    groups = Derived(shape.channels) if isinstance(fields.groups, str) else fields.groups
    for what, channels in (("come in", shape.channels), ("come out", fields.channels)):
        if channels % groups:
            fact = f"{groups} groups, but {channels} channels {what}"
            raise place.wrong(fact, "use a number of groups that divides both", "groups")
    act = act_behind(fields.act, shape)
    return Filters(shape.channels, fields.channels, kernel, stride, dilation, groups, fields.bias, None, act)


def need_map(word: str, shape: Shape, place: Place) -> None:
    if not shape.sides:
        fact = f"{word} needs a map, and a vector of {shape.channels} numbers comes in"
        raise place.wrong(fact, "give `input` sides, such as 3 × 224 × 224, or `reshape` the vector before", word)


def places_of(windows: tuple[Any, ...], place: Place) -> tuple[int, ...]:
    """The sides behind a layer; a window that is longer than the map is refused."""
    for window in windows:
        if window.places < 1:
            fact = f"the window does not fit: {window.worked}"
            raise place.wrong(fact, "use a smaller kernel, more padding, or a larger input", "kernel")
    return tuple(window.places for window in windows)
