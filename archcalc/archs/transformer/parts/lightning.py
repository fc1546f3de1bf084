"""The part `lightning`: linear attention whose heads forget at fixed rates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from archcalc.archs.transformer.nodes import Norm
from archcalc.archs.transformer.parts.ffn import Activation
from archcalc.archs.transformer.parts.part import Context, Part, Surroundings
from archcalc.core.errors import InputError
from archcalc.core.ir import Module, Tensor
from archcalc.layers.lightning import Lightning as Layer
from archcalc.spec.node import Node, Size


class Lightning(Node):
    main: ClassVar[str] = "heads"
    heads: Size | None = None  # like those of attention, unless it is said
    head_dim: Size | None = None
    act: Activation = "silu"
    chunk: Size = 256  # positions that are computed at once
    norm: Norm | None = None


@dataclass(frozen=True)
class LightningPart(Part):
    layer: Layer

    def run(self, m: Module, x: Tensor, context: Context) -> Tensor:
        return self.layer.run(m, x, context.work)


def resolve(word: str, slot: str, said: Lightning, around: Surroundings) -> LightningPart:
    if not around.causal:
        hint = "put it into a decoder"
        raise InputError("lightning attention reads from left to right", hint, fields=around.places("pattern"))
    heads = around.needed(said.heads or around.scope.heads, "heads", "the number of heads, such as `heads: 8`", word)
    head_dim = said.head_dim or around.scope.head_dim
    if head_dim is None:
        around.check_divides(around.d_model, "d_model", heads, word, "heads")
    layer = Layer(heads, head_dim or around.d_model // heads, said.act, said.chunk)
    return LightningPart(name=word, norm=around.norm(said.norm), dropout=around.scope.dropout, layer=layer)
