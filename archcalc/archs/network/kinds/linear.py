"""Linear (fully connected) layers of vectors, or of each position of a sequence: `{linear: 4096, act: relu}`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from archcalc.archs.network.convolution import finished
from archcalc.archs.network.kinds.activation import Act, Activation, act_behind
from archcalc.archs.network.kinds.norm import Norm, NormFields, norm_behind
from archcalc.archs.network.layer import SEQUENCES, Place, Shape, Trace
from archcalc.core.ir import Module, ModuleGroup, Tensor
from archcalc.core.roles import Role
from archcalc.layers.linear import linear
from archcalc.spec.node import Node, Size, field

WORDS = ("linear",)
READS = (SEQUENCES,)


class LinearFields(Node):
    main: ClassVar[str] = "width"
    width: Size = field(..., "Numbers that come out.", example=10)
    bias: bool = field(True, "A learned number added to each output.", example=False)
    norm: NormFields | None = field(None, "The norm behind it.", example="batch")
    act: Act | None = field(None, "The activation behind it, after the norm.", example="relu")


@dataclass(frozen=True)
class Linear:
    spec_kind: ClassVar[str] = "linear"
    of_each_position: ClassVar[bool] = True
    into: int
    out: int
    bias: bool
    norm: Norm | None
    act: Activation | None
    is_classifier: bool = False  # its outputs are the scores that the loss reads

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        role = Role.CLASSIFIER if self.is_classifier else Role.LINEAR
        m.group = ModuleGroup.HEAD if self.is_classifier else m.group
        y = linear(m, _rows(m, x, trace), trace.channels(self.out, 0), bias=self.bias, role=role)
        return finished(m, y, self.norm, self.act, trace)


def _rows(m: Module, x: Tensor, trace: Trace) -> Tensor:
    """PyTorch multiplies one matrix of all positions of all samples; those of a single sample are one as they lie."""
    return x if int(x.dims[0].size) == 1 else trace.in_order(m, x)


FIELDS = LinearFields


def read(word: str, fields: LinearFields, shape: Shape, place: Place) -> tuple[Linear, Shape]:
    if shape.sides and not shape.is_sequence:
        fact = f"a linear layer reads vectors, and a map of {shape} comes in"
        hint = (
            "put `flatten` before it; for a linear layer at every place use a conv with kernel 1, or `sequence` before"
        )
        raise place.wrong(fact, hint, word)
    behind = replace(shape, channels=fields.width)
    found = norm_behind(fields.norm, behind, place)
    return Linear(shape.channels, fields.width, fields.bias, found, act_behind(fields.act, behind)), behind
