"""The fields of a model of several parts as written in a spec."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import WithJsonSchema

from archcalc.archs.parts.inputs import Input
from archcalc.archs.parts.names import Names
from archcalc.archs.parts.similarity import Similarity
from archcalc.spec.node import HasFieldsOf, ModelSpec, Node, field

class Links(Node):
    """How a part is joined to the others; all other fields are those of its family."""

    reads: Names = field(
        (),
        "What the part reads: inputs or other parts, by name. Several are read one behind the other.",
        example=["projector", "text"],
        unset="the part before it; the first part reads the only input",
    )
    together: bool = field(
        False,
        "The vectors that a sample has several of, such as one for each frame, come in as one sequence. They do without"
        " it where a recurrent part, a Transformer or something that a sample has one of stands beside them.",
        example=True,
    )
    memory: str | None = field(
        None, "What its attention looks at: the output of another part.", example="encoder", unset="nothing"
    )
    start: str | None = field(
        None,
        "The state that a recurrent part starts from: a recurrent part, or a vector as wide as its state.",
        example="encoder",
        unset="zeros",
    )
    context: str | None = field(
        None, "A vector that a recurrent part reads at every step beside its input.", example="encoder", unset="none"
    )
    like: str | None = field(
        None,
        "The part whose weights this one uses again: they are counted once, and computed again.",
        example="twin",
        unset="weights of its own",
    )


_PART_SCHEMA = {"type": "object", "additionalProperties": {"type": "object"}}
Written = Annotated[dict[str, dict[str, Any]], HasFieldsOf(Links), WithJsonSchema(_PART_SCHEMA)]


class Spec(ModelSpec):
    refused: ClassVar[frozenset[str]] = frozenset()
    family: Literal["parts"] = field("parts", "The family of models of several parts.", example="parts")
    input: Input | None = field(
        None, "What comes in, where that is one thing; the first part reads it.", example="3 × 224 × 224"
    )
    inputs: dict[str, Input] = field(
        {},
        "What comes in, by name: `tokens`, `40 tokens`, a map such as `3 × 224 × 224`, `12` for a vector, or fields.",
        example={"image": "3 × 224 × 224", "text": "tokens"},
        unset="tokens, called input",
    )
    parts: Written = field(
        {},
        "The parts in the order in which they run, by name: each a spec of any family, with what it reads.",
        example={"body": {"vocab": 100, "d_model": 8, "heads": 2, "ffn": 16, "decoder": 1}},
    )
    similarity: Similarity | None = field(
        None,
        "Two parts whose outputs are compared, each sample of the one with each of the other: cosines, times a learned"
        " factor. In training every sample's own score is to be the largest.",
        example=["words", "vision"],
        unset="nothing is compared",
    )
    loss: Literal["cross_entropy", "none"] | None = field(
        None,
        "The training loss of every part that no other one reads.",
        example="none",
        unset="cross entropy where that is one part, or where it has a head",
    )
