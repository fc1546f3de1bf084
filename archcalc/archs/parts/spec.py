"""The fields of a model of several parts as written in a spec."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import WithJsonSchema

from archcalc.archs.parts.inputs import Input
from archcalc.archs.parts.links import Links
from archcalc.archs.parts.similarity import Similarity
from archcalc.spec.model_spec import ModelSpec
from archcalc.spec.node import HasFieldsOf, field

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
