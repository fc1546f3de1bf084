"""The part `ffn`."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, WithJsonSchema

from archcalc.archs.transformer.nodes import Norm
from archcalc.archs.transformer.parts.part import LayerPart, Surroundings, own_or
from archcalc.layers.ffn import Ffn as FeedForward
from archcalc.spec.node import Node, Size, field, mistake
from archcalc.styles.activations import ACTIVATIONS, LEARNED

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


def resolve(word: str, slot: str, node: Ffn, around: Surroundings) -> LayerPart:
    biased = sides(own_or(node.bias, around.scope.bias))
    layer = FeedForward(
        width=around.needed(node.width, "width", "the inner width, such as `ffn: 2048`", word),
        act=node.act,
        gated=node.gated,
        bias="in" in biased,
        out_bias="out" in biased,
        inner_norm=around.norm(node.norm).kind if node.inner_norm else "none",
    )
    return around.layer_part(word, layer, node.norm)


def sides(biased: bool | tuple[str, ...]) -> tuple[str, ...]:
    """The projections that have a bias: in, out."""
    if isinstance(biased, tuple):
        return biased
    return ("in", "out") if biased else ()
