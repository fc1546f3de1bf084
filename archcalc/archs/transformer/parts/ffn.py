"""The part `ffn`."""

from functools import partial
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, WithJsonSchema

from archcalc.archs.transformer.nodes import Norm, flag_or_some
from archcalc.archs.transformer.parts.part import Surroundings, own_or
from archcalc.layers.ffn import Ffn as FeedForward
from archcalc.spec.node import Node, Size, field
from archcalc.styles.activations import ACTIVATIONS, LEARNED

Activation = Literal[*ACTIVATIONS]  # type: ignore[valid-type]
AnyActivation = Literal[*ACTIVATIONS, *LEARNED]  # type: ignore[valid-type]


SIDES: dict[Any, Any] = {True: ("in", "out"), False: ()}  # the projections that have a bias
_SOME_SCHEMA = {"type": "array", "items": {"enum": ["in", "out"]}}
FfnBias = Annotated[
    Any,
    BeforeValidator(partial(flag_or_some, SIDES[True])),
    WithJsonSchema({"anyOf": [{"type": "boolean"}, _SOME_SCHEMA]}),
]


class Ffn(Node):
    main: ClassVar[str] = "width"
    width: Size | None = field(None, "The inner width.", example=2048, unset="needed")
    act: AnyActivation = field("gelu", "The activation; `xielu` learns two numbers.", example="relu")
    gated: bool = field(False, "Two projections in, one of which gates the other, as in SwiGLU.", example=True)
    bias: FfnBias | None = field(
        None,
        "Its projections have biases: true, false, or a list of those that do.",
        example=["in"],
        unset="bias of the model",
    )
    inner_norm: bool = field(False, "One more norm, in front of the projection out.", example=True)
    norm: Norm | None = field(None, "The norm of this part.", example="rms", unset="norm of the model")


def resolve(word: str, slot: str, node: Ffn, around: Surroundings) -> FeedForward:
    bias = own_or(node.bias, around.scope.bias)
    biased = SIDES.get(bias, bias)
    return FeedForward(
        width=around.needed(node.width, "width", "the inner width, such as `ffn: 2048`", word),
        act=node.act,
        gated=node.gated,
        bias="in" in biased,
        out_bias="out" in biased,
        inner_norm=around.norm.kind if node.inner_norm else "none",
    )
