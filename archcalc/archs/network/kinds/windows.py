"""Windows of a map, each a sequence of its own: `{windows: 7, layers: [{attention: 3}]}` (Liu et al. 2021, Swin).

All windows of a sample stand beside each other in the batch. `shift` moves the map by so many places first, round its
ends, and back behind the layers; attention inside does not look across an end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import ClassVar

from archcalc.archs.network.kinds.conv import need_map
from archcalc.archs.network.layer import Place, Sequence, Shape, Trace, parts
from archcalc.archs.network.values import FromZero, Layers, Sizes, for_each_side
from archcalc.core.ir import Module, Tensor, axes
from archcalc.spec.node import Node, field
from archcalc.spec.resolved import every_part

WORDS = ("windows",)


class WindowsFields(Node):
    main: ClassVar[str] = "size"
    size: Sizes = field(..., "Places of a window: one number, or one for each side.", example=8)
    layers: Layers = field(
        ..., "The layers that read each window: its places are the positions of a sequence.", example=[{"attention": 8}]
    )
    shift: FromZero = field(0, "How many places the windows are moved along each side, round its end.", example=4)


@dataclass(frozen=True)
class Windows:
    spec_kind: ClassVar[str] = "windows"
    size: tuple[int, ...]
    shift: int
    layers: Sequence

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        batch, channels, sides = parts(x)
        number = prod(int(side.size) // size for side, size in zip(sides, self.size, strict=True))
        windows = trace.windows(batch, number)
        moved = m.record("reorder", x) if self.shift else x
        each = m.record("reorder", moved, to=axes(windows, trace.positions(prod(self.size)), channels))
        around, trace.in_shifted_windows = trace.in_shifted_windows, bool(self.shift)
        out = self.layers.run(m["layers"], each, trace)
        trace.in_shifted_windows = around
        _, _, features = out.dims
        together = m.record("reorder", out, to=axes(batch, features, *sides))
        return m.record("reorder", together) if self.shift else together


FIELDS = WindowsFields


def read(word: str, fields: WindowsFields, shape: Shape, place: Place) -> tuple[Windows, Shape]:
    need_map(word, shape, place)
    size = for_each_side(fields.size, len(shape.sides), place, word)
    for side, one in zip(shape.sides, size, strict=True):
        if side % one:
            hint = "use a divisor of both, or `pad` the map before and cut it behind"
            raise place.wrong(f"a side of {side} places does not divide into windows of {one}", hint, word)
    if fields.shift and any(fields.shift >= one for one in size):
        raise place.wrong(f"a shift of {fields.shift} is as long as a window", "use a part of it", "shift")
    if fields.shift and size == shape.sides:
        raise place.wrong("one window is the whole map, which a shift leaves as it is", "take shift out", "shift")
    inside = Shape.sequence(prod(size), shape.channels)
    unnamed = replace(place.below("layers"), signals={})  # earlier layers have other samples than the windows
    layers, behind = place.reader.steps(fields.layers, inside, unnamed)
    if not behind.is_sequence or behind.sides != inside.sides:
        fact = f"windows of {inside} come out of their layers as {behind}, which is no map again"
        raise place.wrong(fact, "keep the positions", "layers")
    if fields.shift and any(getattr(part, "memory", None) for part in every_part(layers)):
        raise place.wrong("cross-attention in shifted windows", "let it look at whole windows", "shift")
    return Windows(size, fields.shift, layers), Shape(behind.channels, shape.sides)
