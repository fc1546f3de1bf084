"""Tensors that a list of layers may begin with: `{parameter: 100 × 256}` is learned, `{constant: 3 × 3}` is not.

Both are the same for every sample. Two sizes are the positions and features of a sequence, or the channels and the
side of a map where one is joined with a map.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from archcalc.archs.network.layer import IDS, SEQUENCES, Beginning, Place, Sequence, Shape, Trace
from archcalc.archs.network.sample import Sample
from archcalc.core.ir import Module, Tensor, axes
from archcalc.core.roles import Role
from archcalc.spec.node import Node, field

WORDS = ("parameter", "constant")
READS = (SEQUENCES, IDS)


class GivenFields(Node):
    main: ClassVar[str] = "size"
    size: Sample = field(
        ...,
        "Its sizes: positions and features, channels and more than one side, or the width of a vector.",
        example=[100, 256],
        words={"constant": ["Its sizes, as those of a parameter.", [[3, 3]]]},
    )
    value: Literal["zeros", "ones", "identity"] | None = field(
        None,
        "What stands in it.",
        example="identity",
        unset="zeros",
        beside={"size": [3, 3]},
        words={"parameter": None},
    )


@dataclass(frozen=True)
class Given(Beginning):
    """`value` is what stands in it, or `learned`."""

    spec_kind: ClassVar[str] = "given"
    shape: Shape
    value: str

    def laid_out_as(self, is_sequence: bool) -> Given:
        """The same numbers as a sequence or as a map, if they have two sizes."""
        if len(self.shape.sides) != 1 or self.shape.is_sequence == is_sequence:
            return self
        return replace(self, shape=Shape(self.shape.sides[0], (self.shape.channels,), is_sequence=is_sequence))

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        dims = trace.dims_of(self.shape)
        if self.value == "learned":
            made: Tensor = m.param("weight", *dims, role=Role.VECTORS)
        else:
            made = m.record("constant", to=axes(*dims), note=self.value)
        return m.record("repeat", made, to=axes(x.dims[0], *dims), name=self.value, note="for every sample")


def given_in(layers: Sequence) -> Given | None:
    """The tensor that a list of layers consists of."""
    found = [step.layer for step in layers.steps]
    return found[0] if len(found) == 1 and isinstance(found[0], Given) else None


def joined_with(is_sequence: bool, layers: Sequence, shape: Shape) -> tuple[Sequence, Shape]:
    """A list of layers, or a given tensor as a map or a sequence, and what it gives."""
    given = given_in(layers)
    if given is None:
        return layers, shape
    made = given.laid_out_as(is_sequence)
    return replace(layers, steps=(replace(layers.steps[0], layer=made),)), made.shape


FIELDS = GivenFields


def read(word: str, fields: GivenFields, shape: Shape, place: Place) -> tuple[Given, Shape]:
    first, *others = fields.size
    made = Shape.sequence(first, *others) if len(others) == 1 else Shape(first, tuple(others))
    if word == "parameter":
        if fields.value:
            raise place.wrong("a parameter is learned, whatever it starts from", "take value out", "value")
        return Given(made, "learned"), made
    if fields.value == "identity" and (len(others) != 1 or others[0] != first):
        raise place.wrong(f"no identity has the sizes {made}", "give as many rows as columns", word)
    return Given(made, fields.value or "zeros"), made
