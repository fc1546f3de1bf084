"""What becomes of an image before a model reads it: the pictures that its vision encoder sees, and how many vectors and
tokens then stand in the text. One rule for each kind of image processor."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, WithJsonSchema

from archcalc.core.errors import InputError
from archcalc.spec.images.resizing import BY_SIZE
from archcalc.spec.images.seen import Picture, Seen
from archcalc.spec.images.tiling import BY_TILES
from archcalc.spec.node import Node, Size, as_size, field, mistake

__all__ = ["Images", "Picture", "Seen"]

RULES = BY_SIZE | BY_TILES
LONGEST = 100_000  # pixels along a side


def _pairs(value: Any) -> Any:
    if not isinstance(value, list | tuple) or not all(isinstance(one, list | tuple) and len(one) == 2 for one in value):
        raise mistake("expected a list of sizes, each [height, width]")
    return tuple((as_size(height), as_size(width)) for height, width in value)


_PAIR = {"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 2, "maxItems": 2}
Pairs = Annotated[
    tuple[tuple[int, int], ...], BeforeValidator(_pairs), WithJsonSchema({"type": "array", "items": _PAIR})
]


class Images(Node):
    """The rule of an image processor."""

    main: ClassVar[str] = "kind"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {
        "fixed": frozenset({"size", "patch", "vectors", "beside"}),
        "multiples": frozenset({"step", "least", "most", "narrow", "frames", "beside"}),
        "padded": frozenset({"step", "patch", "most", "longest", "beside"}),
        "bounded": frozenset({"step", "longest", "beside"}),
        "filled": frozenset({"step", "most", "beside"}),
        "listed": frozenset({"size", "patch", "vectors", "sizes", "most", "beside"}),
        "ratio": frozenset({"size", "patch", "vectors", "least", "most", "beside"}),
        "canvas": frozenset({"size", "patch", "vectors", "most", "beside"}),
        "split": frozenset({"size", "patch", "vectors", "longest", "beside"}),
    }
    needed_of: ClassVar[dict[str, tuple[str, ...]]] = {
        "fixed": ("size", "vectors"),
        "multiples": ("step", "least", "most"),
        "padded": ("step", "patch", "most", "longest"),
        "bounded": ("step", "longest"),
        "filled": ("step", "most"),
        "listed": ("size", "vectors", "sizes"),
        "ratio": ("size", "vectors", "most"),
        "canvas": ("size", "vectors", "most"),
        "split": ("size", "vectors", "longest"),
    }
    kind: Literal[*RULES] = field(  # type: ignore[valid-type]
        "fixed",
        "What happens to an image: `fixed` (every one gets the same size), `multiples` (sides become multiples of a"
        " step, within a range of pixels), `padded` (scaled down, then padded to multiples), `bounded` (scaled down to"
        " a longest side), `filled` (scaled to as many pixels as there may be), or tiles beside the whole: `listed`"
        " (the best of some sizes), `ratio` (as near as possible to its aspect ratio), `canvas` (as little scaled as"
        " possible), `split` (as many as its sides need).",
        example="fixed",
    )
    size: Size | None = field(None, "The side of a picture, or of a tile, in pixels.", example=336)
    vectors: Size | None = field(None, "How many vectors a picture becomes in the text.", example=576)
    step: Size | None = field(
        None, "Pixels along the side of what becomes one vector: patches times merged patches.", example=28
    )
    patch: Size | None = field(
        None,
        "The side of a patch in pixels. Pixels of a picture or a tile that fill no whole patch are not seen.",
        example=14,
    )
    least: Size | None = field(None, "The fewest pixels, or tiles.", example=3136)
    most: Size | None = field(None, "The most pixels, patches or tiles.", example=1_003_520)
    narrow: Literal["floor", "round"] | None = field(
        None,
        "An image narrower than a step is scaled up to one first, and its other side is rounded so.",
        example="floor",
        unset="its narrow side becomes a step long, and its other one stays",
    )
    frames: Size = field(1, "How often the pixels of an image count: as a clip of so many equal frames.", example=2)
    longest: Size | None = field(None, "The longest side, in pixels.", example=1540)
    sizes: Pairs | None = field(None, "The sizes that an image may get, [height, width] each.", example=[[336, 672]])
    beside: int = field(0, "Tokens around every image, which begin and end it.", example=2)

    def seen(self, height: int, width: int) -> Seen:
        """What the model gets of an image of that size."""
        if not (1 <= height <= LONGEST and 1 <= width <= LONGEST):
            fact = f"an image of {height:,} × {width:,} pixels"
            raise InputError(fact, f"use sides from 1 to {LONGEST:,}", field="--image-size")
        for name in self.needed_of[self.kind]:
            if getattr(self, name) is None:
                raise InputError(f"images of kind {self.kind} need {name}", f"write `{name}: …`", field="images")
        found: Seen = RULES[self.kind](self, height, width)
        return found._replace(tokens=found.tokens + self.beside)
