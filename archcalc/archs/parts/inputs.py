"""What comes into a model of several parts: tokens, a vector, a sequence, or a map such as an image."""

from __future__ import annotations

from typing import ClassVar

from archcalc.archs.network.sample import Input as Written
from archcalc.archs.network.sample import is_open, sample_of, usual_length
from archcalc.archs.parts.flow import Flow
from archcalc.spec.node import Node, Size, field


class Input(Node):
    """One thing that comes in."""

    main: ClassVar[str] = "shape"
    shape: Written = field(
        ...,
        "`tokens`, or `40 tokens` where a sample usually has so many; `12` for a vector; channels and sides of a map; "
        "`80 × seq` for a sequence.",
        example="3 × 224 × 224",
    )
    number: Size = field(1, "How many of them a sample has, such as the images of a prompt.", example=2)

    @property
    def is_open(self) -> bool:
        """Whether the workload says how many positions it has."""
        return is_open(self.shape)

    @property
    def usual(self) -> int | None:
        """How many positions it has unless the workload says otherwise; None where the spec does not say."""
        return usual_length(self.shape)

    def flow(self, length: int, name: str = "") -> Flow:
        """What it gives to the parts that read it, with so many positions where they are open."""
        return Flow(sample_of(self.shape, length), self.number, name)
