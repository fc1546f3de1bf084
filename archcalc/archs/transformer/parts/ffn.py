"""The part `ffn`."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from archcalc.archs.transformer.nodes import Norm
from archcalc.archs.transformer.parts.part import Context, Part, Surroundings
from archcalc.ir import Module, Tensor
from archcalc.layers.activation import ACTIVATIONS
from archcalc.layers.ffn import ffn
from archcalc.spec import Node, Size

Activation = Literal[*ACTIVATIONS]  # type: ignore[valid-type]


class Ffn(Node):
    main: ClassVar[str] = "width"
    width: Size | None = None
    act: Activation = "gelu"
    gated: bool = False
    bias: bool | None = None
    norm: Norm | None = None


@dataclass(frozen=True)
class FfnPart(Part):
    width: int
    act: str
    gated: bool
    bias: bool

    def run(self, m: Module, x: Tensor, context: Context) -> Tensor:
        return ffn(m, x, self.width, act=self.act, gated=self.gated, bias=self.bias)


def resolve(word: str, slot: str, said: Ffn, around: Surroundings) -> FfnPart:
    return FfnPart(
        name=word,
        norm=around.norm(said.norm),
        dropout=around.scope.dropout,
        width=around.needed(said.width, "width", "the inner width, such as `ffn: 2048`", word),
        act=said.act,
        gated=said.gated,
        bias=said.bias if said.bias is not None else around.scope.bias,
    )
