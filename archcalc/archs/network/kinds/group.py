"""Layers that belong together: `{layers: [...], repeat: 3}`; and the calls of blocks, which the reader opens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from archcalc.archs.network.layer import Sequence
from archcalc.archs.network.shape import Shape
from archcalc.archs.network.values import Layers
from archcalc.spec.node import Node

if TYPE_CHECKING:
    from archcalc.archs.network.place import Place
    from archcalc.archs.network.reader import Reader

WORDS = ("layers", "block")
MAY_STAND_ALONE = False


class GroupFields(Node):
    main: ClassVar[str] = "inside"
    inside: Layers = Field(
        examples=[["relu"]],
        description="The layers, one after the other.",
        json_schema_extra={"words": {"block": None}},  # its value is the name of one of `blocks`
    )


def title(given: dict[str, Any]) -> str:
    return "stage"


FIELDS = GroupFields


def read(word: str, fields: GroupFields, shape: Shape, place: Place, reader: Reader) -> tuple[Sequence, Shape]:
    return reader.steps(fields.inside, shape, place.below("layers"))
