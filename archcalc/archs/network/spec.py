"""The fields of a network as written in a spec.

`layers` are read one after the other. A layer is a mapping that starts with its kind, or a word alone (`relu`,
`flatten`). `blocks` are layers with a name and parameters; `defaults` hold for every layer of a kind.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import WithJsonSchema

from archcalc.archs.network.sample import Input
from archcalc.spec.model_spec import ModelSpec
from archcalc.spec.node import Node, field

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
    family: Literal["network"] = field(
        "network", "The family of networks that are written layer by layer.", example="network"
    )
    input: Input | None = field(
        None,
        "One sample: channels, then its sides; or the width of a vector; or a sequence of tokens (`tokens`,"
        " `40 tokens`) or of vectors (`80 × seq`).",
        example=[3, 224, 224],
        unset="needed",
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
        None,
        "The training loss.",
        example="none",
        unset="cross entropy if the output is a vector or a sequence, else none",
    )

    @classmethod
    def items(cls) -> dict[str, type[Node]]:
        from archcalc.archs.network.kinds import kinds

        return {word: module.FIELDS for word, module in kinds().items()}
