"""The part `ffn`."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, WithJsonSchema

from archcalc.archs.transformer.nodes import Norm
from archcalc.archs.transformer.parts.part import LayerPart, Surroundings, own_or
from archcalc.layers.activation import ACTIVATIONS, LEARNED
from archcalc.layers.ffn import Ffn as FeedForward
from archcalc.spec.node import Node, Size, mistake

Activation = Literal[*ACTIVATIONS]  # type: ignore[valid-type]
AnyActivation = Literal[*ACTIVATIONS, *LEARNED]  # type: ignore[valid-type]


def _bias(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, list | tuple) and value and all(item in ("in", "out") for item in value):
        return tuple(value)
    raise mistake("expected true, false or a list of in, out")


_SIDES = {"type": "array", "items": {"enum": ["in", "out"]}}
FfnBias = Annotated[Any, BeforeValidator(_bias), WithJsonSchema({"anyOf": [{"type": "boolean"}, _SIDES]})]


class Ffn(Node):
    main: ClassVar[str] = "width"
    width: Size | None = None
    act: AnyActivation = "gelu"
    gated: bool = False
    bias: FfnBias | None = None  # a list where only some have one: in (gate and up), out
    inner_norm: bool = False  # one more norm, in front of the projection out
    norm: Norm | None = None


def resolve(word: str, slot: str, node: Ffn, around: Surroundings) -> LayerPart:
    biased = own_or(node.bias, around.scope.bias)
    layer = FeedForward(
        width=around.needed(node.width, "width", "the inner width, such as `ffn: 2048`", word),
        act=node.act,
        gated=node.gated,
        bias=_has_bias(biased, "in"),
        out_bias=_has_bias(biased, "out"),
        inner_norm=around.norm(node.norm).kind if node.inner_norm else "none",
    )
    return around.layer_part(word, layer, node.norm)


def _has_bias(biased: bool | tuple[str, ...], side: str) -> bool:
    return side in biased if isinstance(biased, tuple) else biased
