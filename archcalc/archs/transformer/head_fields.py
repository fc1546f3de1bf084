"""The fields of a head as written in a spec."""

from functools import partial
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, WithJsonSchema

from archcalc.archs.transformer.nodes import flag_or, flag_or_size
from archcalc.spec.model_spec import Further
from archcalc.spec.node import Node, Size, field
from archcalc.styles.activations import ACTIVATIONS

FlagOrSize = Annotated[Any, BeforeValidator(flag_or_size), WithJsonSchema({"type": ["boolean", "integer"]})]
BiasOrTwo = Annotated[
    Any, BeforeValidator(partial(flag_or, ("twice",))), WithJsonSchema({"enum": [True, False, "twice"]})
]
Activation = Literal[*ACTIVATIONS]  # type: ignore[valid-type]


class Mtp(Further):
    """Multi-token prediction: blocks after the last one that each predict one token further ahead."""

    own_tables: bool = field(False, "Each of them has a token table and a head of its own.", example=True)


class OneHead(Node):
    """One head on the last hidden states."""

    main: ClassVar[str] = "kind"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {
        "lm": frozenset({"bias", "norm", "transform", "transform_bias", "vocab", "mtp", "beside"}),
        "tied": frozenset({"bias", "norm", "transform", "transform_bias", "vocab", "mtp", "beside"}),
        "classifier": frozenset(
            {"bias", "classes", "pool", "pooler", "hidden", "act", "project", "norm", "transform", "transform_bias"}
            | {"layers", "beside"}
        ),
        "none": frozenset({"pooler", "pool", "norm"}),
    }
    needed_of: ClassVar[dict[str, tuple[str, ...]]] = {"classifier": ("classes",)}
    kind: Literal["lm", "tied", "classifier", "none"] = field(
        "lm",
        "What is on top: `lm` (scores for every token, by a matrix of its own), `tied` (by the token table), "
        "`classifier` or `none`.",
        example="tied",
    )
    bias: BiasOrTwo | None = field(
        None,
        "A bias on the output; `twice` stores a second one, which nothing reads.",
        example=True,
        unset="true for a classifier, false for lm and tied",
    )
    norm: bool = field(False, "One more norm in front of the head.", example=True)
    transform: FlagOrSize = field(
        False,
        "A dense layer with activation and norm in front, as in BERT's masked-LM head: true, or its width.",
        example=True,
    )
    vocab: Size | None = field(
        None,
        "Tokens that the head predicts, where they are not those of the token table.",
        example=32_000,
        unset="vocab",
    )
    classes: Size | None = field(
        None, "How many classes a classifier has.", example=1000, unset="needed by a classifier"
    )
    transform_bias: bool = field(True, "A bias in that dense layer.", example=False, needs="transform")
    hidden: Size | None = field(
        None, "The width of a dense layer before the classes.", example=256, unset="no such layer"
    )
    act: Activation = field("tanh", "The activation of that layer.", example="relu")
    project: Size | None = field(
        None,
        "The width of a dense layer on every position, before they are pooled.",
        example=256,
        unset="no such layer",
    )
    layers: Literal["last", "weighted"] = field(
        "last",
        "What the head reads: the last block's output, or the sum of all blocks' outputs, each with a learned weight.",
        example="weighted",
    )
    mtp: Mtp | None = field(
        None, "Multi-token prediction: further blocks, each of which predicts one token more.", example=1, unset="none"
    )
    pooler: FlagOrSize = field(
        False, "A dense layer with tanh on the first position: true, or its width.", example=True
    )
    pool: Literal["each", "patches", "class", "second", "mean", "last", "both", "probe"] | None = field(
        None,
        "What is classified: `each` position, the `class` token, the `mean` of all, the `last`; of an image "
        "also `patches`, `both`, `second`; `probe` is a learned query that attends to all.",
        example="mean",
        unset="class token of an image, each position of a text",
    )


class Head(OneHead):
    """The output heads on the last hidden states."""

    beside: OneHead | None = field(
        None,
        "A second head on the same output, as BERT's next-sentence prediction.",
        example={"kind": "classifier", "classes": 2},
    )

    @property
    def further(self) -> frozenset[str]:
        """The parts that blocks for multi-token prediction consist of, where the spec says it."""
        return frozenset(((self.mtp and self.mtp.line) or "").split())
