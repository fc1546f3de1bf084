"""Dropout: `{dropout: 0.5}`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from archcalc.archs.network.layer import SEQUENCES, Place, Shape, Trace
from archcalc.core.ir import Module, Tensor
from archcalc.layers.dropout import dropped
from archcalc.spec.node import Node

WORDS = ("dropout",)
READS = (SEQUENCES,)


class DropoutFields(Node):
    main: ClassVar[str] = "rate"
    rate: Annotated[
        float,
        Field(examples=[0.5], ge=0, lt=1, description="The share of numbers that are set to zero while training."),
    ]


@dataclass(frozen=True)
class Dropout:
    spec_kind: ClassVar[str] = "dropout"
    of_each_position: ClassVar[bool] = True
    dropout: float

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        kept = dropped(m, x, self.dropout, trace.work, "between")
        return trace.like(x, m.record("identity", x) if kept is x else kept)


FIELDS = DropoutFields


def read(word: str, fields: DropoutFields, shape: Shape, place: Place) -> tuple[Dropout, Shape]:
    return Dropout(fields.rate), shape
