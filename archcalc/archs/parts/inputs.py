"""What comes into a model of several parts: tokens, a vector, or a map: an image, a spectrogram, a video."""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, WithJsonSchema

from archcalc.archs.network.layer import Shape
from archcalc.archs.parts.flow import Flow
from archcalc.spec.node import Node, Size, as_size, field, mistake, shown

MOST_SIDES = 3
_TOKENS = re.compile(r"(?:([0-9][0-9_]*)\s+)?tokens?")


def _shape(value: Any) -> Any:
    """`tokens`, `40 tokens`, `784`, `3 × 224 × 224` or a list of such sizes."""
    found = _TOKENS.fullmatch(value.strip()) if isinstance(value, str) else None
    if found:
        return "tokens" if not found[1] else f"{as_size(found[1])} tokens"
    sizes = re.split(r"\s*[×x*,]\s*", value.strip()) if isinstance(value, str) else value
    sizes = sizes if isinstance(sizes, list | tuple) else [sizes]
    if not 1 <= len(sizes) <= 1 + MOST_SIDES:
        fact = f"expected tokens, a width, or channels and up to {MOST_SIDES} sides such as 3 × 224 × 224"
        raise mistake(f"{fact}, found {shown(value)}")
    return tuple(as_size(size) for size in sizes)


_SHAPE_SCHEMA = {"anyOf": [{"type": ["string", "integer"]}, {"type": "array", "items": {"type": "integer"}}]}
Written = Annotated[Any, BeforeValidator(_shape), WithJsonSchema(_SHAPE_SCHEMA)]


class Input(Node):
    """One thing that comes in."""

    main: ClassVar[str] = "shape"
    shape: Written = field(
        ...,
        "`tokens`, or `40 tokens` where a sample usually has so many; `12` for a vector; channels and sides of a map.",
        example="3 × 224 × 224",
    )
    number: Size = field(1, "How many of them a sample has, such as the images of a prompt.", example=2)

    @property
    def is_tokens(self) -> bool:
        return isinstance(self.shape, str)

    @property
    def usual_tokens(self) -> int | None:
        """How many tokens there are unless the workload says otherwise; None where the spec does not say."""
        found = _TOKENS.fullmatch(self.shape) if self.is_tokens else None
        return int(found[1]) if found and found[1] else None

    def flow(self, tokens: int, length: str = "") -> Flow:
        """What it gives to the parts that read it."""
        if self.is_tokens:
            return Flow(Shape(1, (tokens,), is_ids=True), self.number, length)
        channels, *sides = self.shape
        return Flow(Shape(channels, tuple(sides)), self.number)
