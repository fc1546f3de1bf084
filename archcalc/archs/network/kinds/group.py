"""Layers that belong together: `{layers: [...], repeat: 3}`; and the calls of blocks, which the reader opens."""

from __future__ import annotations

from typing import Any, ClassVar

from archcalc.archs.network.layer import IDS, SEQUENCES, Place, Sequence, Shape
from archcalc.archs.network.values import Layers
from archcalc.spec.node import Node, field

WORDS = ("layers", "block")
READS = (SEQUENCES, IDS)


class GroupFields(Node):
    main: ClassVar[str] = "inside"
    inside: Layers = field(..., "The layers, one after the other.", example=["relu"], words={"block": None})


def title(given: dict[str, Any]) -> str:
    return "stage"


FIELDS = GroupFields


def read(word: str, fields: GroupFields, shape: Shape, place: Place) -> tuple[Sequence, Shape]:
    return place.reader.steps(fields.inside, shape, place.below("layers"))
