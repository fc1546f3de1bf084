"""The fields of a network as written in a spec.

`layers` are read one after the other. A layer is a mapping that starts with its kind, or a word alone (`relu`,
`flatten`). `blocks` are layers with a name and parameters; `defaults` hold for every layer of a kind.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, WithJsonSchema

from archcalc.spec.node import ModelSpec, Node, as_size, field, mistake, shown

MOST_SIDES = 3


def as_shape(value: Any) -> Any:
    """`[3, 224, 224]`, `3 × 224 × 224` or `784`: channels, then the sides."""
    sizes = re.split(r"\s*[×x*,]\s*", value.strip()) if isinstance(value, str) else value
    sizes = sizes if isinstance(sizes, list | tuple) else [sizes]
    if not 1 <= len(sizes) <= 1 + MOST_SIDES:
        raise mistake(f"expected channels and up to {MOST_SIDES} sides, such as 3 × 224 × 224, found {shown(value)}")
    return tuple(as_size(size) for size in sizes)


_SHAPE_SCHEMA = {
    "anyOf": [{"type": "array", "items": {"type": "integer", "minimum": 1}}, {"type": ["integer", "string"]}]
}
Sample = Annotated[tuple[int, ...], BeforeValidator(as_shape), WithJsonSchema(_SHAPE_SCHEMA)]
_ITEM = {"anyOf": [{"type": "string"}, {"type": "object"}, {"type": "array"}]}
Items = Annotated[list[Any], WithJsonSchema({"type": "array", "items": _ITEM})]
Values = Annotated[dict[str, Any], WithJsonSchema({"type": "object"})]


class Block(Node):
    """Layers with a name. `parameters` are those that it is called with, each with its default; `required` has none."""

    needed_of: ClassVar[dict[str, tuple[str, ...]]] = {"": ("layers",)}
    parameters: Values = field(
        {},
        "What a call gives, each with its default or `required`.",
        example={"width": 64},
        beside={"layers": [{"conv": "width", "kernel": 3}]},
    )
    layers: Items = field(
        [], "The layers of the block, which may use the names of its parameters.", example=[{"conv": 8, "kernel": 3}]
    )


class Spec(ModelSpec):
    refused: ClassVar[frozenset[str]] = frozenset({"seq"})
    family: Literal["network"] = field(
        "network", "The family of networks that are written layer by layer.", example="network"
    )
    input: Sample | None = field(
        None, "One sample: channels, then its sides; or the width of a vector.", example=[3, 224, 224], unset="needed"
    )
    layers: Items = field([], "The layers, one after the other.", example=["flatten", {"linear": 10}])
    blocks: dict[str, Block] = field(
        {}, "Named groups of layers that `layers` can call.", example={"twice": {"layers": ["relu", "relu"]}}
    )
    defaults: dict[str, Values] = field(
        {}, "Fields that hold for every layer of a kind, unless it has its own.", example={"conv": {"bias": False}}
    )
    heads: dict[str, Items] = field(
        {}, "Several outputs, each with layers of its own that read the last layer.", example={"age": [{"linear": 1}]}
    )
    loss: Literal["cross_entropy", "squared_error", "none"] | None = field(
        None, "The training loss.", example="none", unset="cross entropy if the output is a vector, else none"
    )

    @classmethod
    def items(cls) -> dict[str, type[Node]]:
        from archcalc.archs.network.kinds import kinds

        return {word: module.FIELDS for word, module in kinds().items()}
