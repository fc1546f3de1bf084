"""Global response norm: each channel weighed by its length over the whole map, beside the others': `response_norm`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from archcalc.archs.network.kinds.conv import need_map
from archcalc.archs.network.layer import Place, Shape, Trace, parts
from archcalc.core.ir import Module, Tensor, axes
from archcalc.core.roles import Role
from archcalc.spec.node import Node, field

WORDS = ("response_norm",)
MAY_STAND_ALONE = True


class ResponseNormFields(Node):
    main: ClassVar[str] = "learned"
    learned: bool = field(True, "Always true: weights and biases of the channels are parameters.", example=True)


@dataclass(frozen=True)
class ResponseNorm:
    """x + weight · x · (length / mean length) + bias (Woo et al. 2023, ConvNeXt V2, equations 1 to 3)."""

    spec_kind: ClassVar[str] = "response_norm"
    channels: int

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        batch, channels, sides = parts(x)
        weight, bias = (m.param(name, channels, role=Role.NORM) for name in ("weight", "bias"))
        lengths = m.record("length", x, to=axes(batch, channels), over=sides)
        mean = m.record("sum", lengths, to=axes(batch), over=(channels,))
        weighed = m.record("multiply", x, m.record("divide", lengths, mean), to=x.axes)
        return m.record("add", m.record("add", m.record("multiply", weighed, weight), bias), x)


FIELDS = ResponseNormFields


def read(word: str, fields: ResponseNormFields, shape: Shape, place: Place) -> tuple[ResponseNorm, Shape]:
    need_map(word, shape, place)
    if not fields.learned:
        raise place.wrong("a response norm has learned weights", "take it out, or leave it as it is", word)
    return ResponseNorm(shape.channels), shape
