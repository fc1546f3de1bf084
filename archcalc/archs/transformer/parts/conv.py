"""The part `conv`: a convolution along the sequence, with an activation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from archcalc.archs.transformer.nodes import Norm
from archcalc.archs.transformer.parts.ffn import Activation
from archcalc.archs.transformer.parts.part import Context, Part, Surroundings
from archcalc.errors import InputError
from archcalc.ir import Module, Tensor
from archcalc.layers.conv import conv
from archcalc.spec import Node, Size


class Conv(Node):
    main: ClassVar[str] = "kernel"
    kernel: Size = 3
    groups: Size = 1
    act: Activation = "gelu"
    norm: Norm | None = None


@dataclass(frozen=True)
class ConvPart(Part):
    kernel: int
    groups: int
    act: str

    def run(self, m: Module, x: Tensor, context: Context) -> Tensor:
        _, seq, d_model = x.dims
        return m.record(self.act, conv(m, x, d_model, self.kernel, groups=self.groups, seq=seq), note=self.act)


def resolve(word: str, slot: str, said: Conv, around: Surroundings) -> ConvPart:
    if around.causal:
        hint = "put it into an encoder"
        raise InputError("the convolution looks at later positions too", hint, fields=around.places("pattern"))
    around.check_divides(around.d_model, "d_model", said.groups, word, "groups")
    return ConvPart(
        name=word,
        norm=around.norm(said.norm),
        dropout=around.scope.dropout,
        kernel=said.kernel,
        groups=said.groups,
        act=said.act,
    )
