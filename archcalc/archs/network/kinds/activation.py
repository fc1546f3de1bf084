"""Activations: `relu`, or `{act: prelu}` with its fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from archcalc.archs.network.layer import SEQUENCES, Place, Shape, Trace, parts
from archcalc.core.ir import Dim, Module, Tensor
from archcalc.spec.node import Node, Size, field
from archcalc.styles.activations import ACTIVATIONS

OVER_CHANNELS = ("softmax", "log_softmax")
LEARNED = "prelu"
WORDS_ALONE = (*ACTIVATIONS, *OVER_CHANNELS, LEARNED)
WORDS = ("act",)
READS = (SEQUENCES,)
Act = Literal[*WORDS_ALONE]  # type: ignore[valid-type]


class ActivationFields(Node):
    main: ClassVar[str] = "kind"
    kind: Act = field(..., "The nonlinearity; `identity` for none.", example="relu")
    slopes: Size = field(
        1,
        "Of prelu: 1 learned slope for all channels, or as many as there are channels.",
        example=1,
        beside={"kind": "prelu"},
    )


@dataclass(frozen=True)
class Activation:
    spec_kind: ClassVar[str] = "act"
    of_each_position: ClassVar[bool] = True
    act: str
    slopes: int = 0  # learned ones, of prelu
    is_sequence: bool = False

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        if self.act in OVER_CHANNELS:
            batch, channels, sides = parts(x)
            return m.record("view", m.record(self.act, x.seen_as(batch, *sides, channels)), to=x.axes)
        if not self.slopes:
            return trace.like(x, m.record(self.act, x))
        return trace.like(x, m.record(self.act, x, m.param("weight", Dim.of("slopes", self.slopes))))


def title(given: dict[str, Any]) -> str:
    """The layer is called by its function."""
    return str(given["act"])


FIELDS = ActivationFields


def read(word: str, fields: ActivationFields, shape: Shape, place: Place) -> tuple[Activation, Shape]:
    if fields.kind != LEARNED and "slopes" in fields.model_fields_set:
        raise place.wrong(f"{fields.kind} has no slopes", "prelu has", "slopes")
    if fields.slopes not in (1, shape.channels):
        fact = f"{fields.slopes} slopes for {shape.channels} channels"
        raise place.wrong(fact, "give 1, or `slopes: channels` for one each", "slopes")
    return Activation(fields.kind, fields.slopes if fields.kind == LEARNED else 0, shape.is_sequence), shape


def act_behind(act: str | None, behind: Shape) -> Activation | None:
    """The activation that stands in a layer's own `act`."""
    if act is None or act == "identity":
        return None
    return Activation(act, 1 if act == LEARNED else 0, behind.is_sequence)
