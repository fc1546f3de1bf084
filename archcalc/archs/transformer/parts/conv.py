"""The part `conv`: a convolution along the sequence, with an activation, or between two gates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from archcalc.archs.transformer.nodes import Norm
from archcalc.archs.transformer.parts.ffn import Activation
from archcalc.archs.transformer.parts.part import Context, Part, Surroundings
from archcalc.core.errors import InputError
from archcalc.core.ir import Module, Tensor
from archcalc.layers.conv import conv
from archcalc.layers.gated_conv import GatedConv
from archcalc.spec.node import Node, Size


class Conv(Node):
    main: ClassVar[str] = "kernel"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {
        "plain": frozenset({"kernel", "groups", "act", "norm"}),
        "gated": frozenset({"kernel", "bias", "norm"}),
    }
    kind: Literal["plain", "gated"] = "plain"
    kernel: Size = 3
    groups: Size = 1
    act: Activation = "gelu"
    bias: bool = False  # gated: of the projections and the convolution
    norm: Norm | None = None


@dataclass(frozen=True)
class ConvPart(Part):
    kernel: int
    groups: int
    act: str

    def run(self, m: Module, x: Tensor, context: Context) -> Tensor:
        _, seq, d_model = x.dims
        return m.record(self.act, conv(m, x, d_model, self.kernel, groups=self.groups, seq=seq), note=self.act)


@dataclass(frozen=True)
class GatedConvPart(Part):
    layer: GatedConv

    def run(self, m: Module, x: Tensor, context: Context) -> Tensor:
        return self.layer.run(m, x, context.work)


def resolve(word: str, slot: str, said: Conv, around: Surroundings) -> ConvPart | GatedConvPart:
    said.check_kind(said.kind, *around.places(word))
    return _gated(word, said, around) if said.kind == "gated" else _plain(word, said, around)


def _gated(word: str, said: Conv, around: Surroundings) -> GatedConvPart:
    if not around.causal:
        hint = "put it into a decoder"
        raise InputError("a gated convolution reads from left to right", hint, fields=around.places("pattern"))
    layer = GatedConv(said.kernel, said.bias)
    return GatedConvPart(name=word, norm=around.norm(said.norm), dropout=around.scope.dropout, layer=layer)


def _plain(word: str, said: Conv, around: Surroundings) -> ConvPart:
    if around.causal:
        hint = "put it into an encoder"
        raise InputError("the convolution looks at later positions too", hint, fields=around.places("pattern"))
    if said.kernel % 2 == 0:
        fact = f"a kernel of {said.kernel} has no middle: the convolution looks as far ahead as back"
        raise InputError(fact, f"use {said.kernel - 1} or {said.kernel + 1}", fields=around.places(word, "kernel"))
    around.check_divides(around.d_model, "d_model", said.groups, word, "groups")
    return ConvPart(
        name=word,
        norm=around.norm(said.norm),
        dropout=around.scope.dropout,
        kernel=said.kernel,
        groups=said.groups,
        act=said.act,
    )
