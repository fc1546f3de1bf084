"""A learned factor for each channel (layer scale): `scale`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from archcalc.archs.network.layer import SEQUENCES, Place, Shape, Trace, parts
from archcalc.core.ir import Module, Tensor
from archcalc.spec.node import Node, field

WORDS = ("scale",)
MAY_STAND_ALONE = True
READS = (SEQUENCES,)


class ScaleFields(Node):
    main: ClassVar[str] = "learned"
    learned: bool = field(True, "Always true: the factors are parameters.", example=True)


@dataclass(frozen=True)
class Scale:
    spec_kind: ClassVar[str] = "scale"
    of_each_position: ClassVar[bool] = True
    channels: int
    is_sequence: bool

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        _, channels, _ = parts(x)
        return trace.like(x, m.record("multiply", x, m.param("weight", channels)))


FIELDS = ScaleFields


def read(word: str, fields: ScaleFields, shape: Shape, place: Place) -> tuple[Scale, Shape]:
    if not fields.learned:
        raise place.wrong("a scale that is not learned has no effect", "take it out", word)
    return Scale(shape.channels, shape.is_sequence), shape
