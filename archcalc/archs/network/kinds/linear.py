"""Linear (fully connected) layers of vectors: `{linear: 4096, act: relu}`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from archcalc.archs.network.kinds.activation import Act, Activation, act_behind
from archcalc.archs.network.kinds.conv import finished
from archcalc.archs.network.kinds.norm import Norm, NormFields, norm_behind
from archcalc.archs.network.shape import Shape
from archcalc.archs.network.trace import Trace
from archcalc.core.ir import Module, ModuleGroup, Tensor
from archcalc.core.roles import Role
from archcalc.layers.linear import linear
from archcalc.spec.node import Node, Size

if TYPE_CHECKING:
    from archcalc.archs.network.place import Place
    from archcalc.archs.network.reader import Reader

WORDS = ("linear",)
MAY_STAND_ALONE = False


class LinearFields(Node):
    main: ClassVar[str] = "width"
    width: Size = Field(examples=[10], description="Numbers that come out.")
    bias: bool = Field(examples=[False], default=True, description="A learned number added to each output.")
    norm: NormFields | None = Field(examples=["batch"], default=None, description="The norm behind it.")
    act: Act | None = Field(examples=["relu"], default=None, description="The activation behind it, after the norm.")


@dataclass(frozen=True)
class Linear:
    spec_kind: ClassVar[str] = "linear"
    into: int
    out: int
    bias: bool
    norm: Norm | None
    act: Activation | None
    is_classifier: bool = False  # its outputs are the scores that the loss reads

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        role = Role.CLASSIFIER if self.is_classifier else Role.LINEAR
        m.group = ModuleGroup.HEAD if self.is_classifier else m.group
        y = linear(m, x, trace.channels(self.out, 0), bias=self.bias, role=role)
        return finished(m, y, self.norm, self.act, trace)


FIELDS = LinearFields


def read(word: str, fields: LinearFields, shape: Shape, place: Place, reader: Reader) -> tuple[Linear, Shape]:
    if shape.sides:
        fact = f"a linear layer reads vectors, and a map of {shape} comes in"
        hint = "put `flatten` before it; for a linear layer at every place use a conv with kernel 1"
        raise place.wrong(fact, hint, word)
    behind = Shape(fields.width)
    found = norm_behind(fields.norm, behind, place)
    return Linear(shape.channels, fields.width, fields.bias, found, act_behind(fields.act)), behind
