"""What comes into a model of several parts: tokens, a vector, a sequence, or a map such as an image."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from archcalc.archs.network.layer import Shape
from archcalc.archs.network.sample import Input as Written
from archcalc.archs.network.sample import is_open, sample_of, usual_length
from archcalc.archs.parts.flow import Flow
from archcalc.archs.transformer.nodes import Sides
from archcalc.core.assumptions import Assumption, Topic
from archcalc.layers.patches import both_sides, times
from archcalc.spec.images import Images, Seen
from archcalc.spec.node import Node, Size, field

IMAGE, CLIP = 2, 3  # sides of a map
USUAL_IMAGE = (768, 1024)  # height and width of one that nobody describes


class Input(Node):
    """One thing that comes in."""

    main: ClassVar[str] = "shape"
    shape: Written = field(
        ...,
        "What it is: `tokens`, or `40 tokens` where a sample usually has so many; `12` for a vector; channels and sides"
        " of a map; `80 × seq` for a sequence.",
        example="3 × 224 × 224",
    )
    number: Size = field(1, "How many of them a sample has, such as the images of a prompt.", example=2)
    processor: Images | None = field(
        None,
        "What an image processor makes of an image of any size; the sides in `shape` then follow from `size`.",
        example={"kind": "multiples", "step": 28, "least": 3136, "most": 1_003_520},
        unset="every image has the size of `shape`",
    )
    size: Sides | None = field(
        None,
        "With a processor: the size of an image before it, one side or [height, width].",
        example=[768, 1024],
        unset="[768, 1024]",
        needs="processor",
    )
    rate: Size | None = field(
        None,
        "Places along the last side for each second of audio, so that a workload can be given in seconds.",
        example=100,
        unset="the input is no audio",
    )

    @property
    def is_open(self) -> bool:
        """Whether the workload says how many positions it has."""
        return is_open(self.shape)

    @property
    def usual(self) -> int | None:
        """How many positions it has unless the workload says otherwise; None where the spec does not say."""
        return usual_length(self.shape)

    @property
    def is_image(self) -> bool:
        return not (self.is_open or self.rate) and len(self.shape) > IMAGE

    @property
    def is_clip(self) -> bool:
        return not (self.is_open or self.rate) and len(self.shape) > CLIP

    def flow(self, length: int, name: str = "") -> Flow:
        """What it gives to the parts that read it, with so many positions where they are open."""
        flow = Flow(sample_of(self.shape, length), self.number, name)
        if not self.processor:
            return flow
        seen = self.seen
        (picture,) = seen.pictures
        shape = Shape(flow.shape.channels, (*flow.shape.sides[:-IMAGE], picture.height, picture.width))
        return replace(flow, shape=shape, number=self.number * picture.number, kept=self.number * seen.vectors)

    @property
    def seen(self) -> Seen:
        """What a model gets of one image."""
        assert self.processor
        return self.processor.seen(*both_sides(self.size or USUAL_IMAGE))

    def told(self) -> list[Assumption]:
        """How much of a sequence the images take."""
        if not self.processor:
            return []
        seen, (height, width) = self.seen, both_sides(self.size or USUAL_IMAGE)
        (picture,) = seen.pictures
        pictures = f"{picture.number} × " if picture.number > 1 else ""
        several = f"{self.number} images" if self.number > 1 else "1 image"
        each = " each" if self.number > 1 else ""
        text = (
            f"{several} of {times(width, height)} pixels, seen as {pictures}{times(picture.width, picture.height)}: "
            f"{seen.positions:,} positions{each}"
        )
        return [Assumption(Topic.IMAGES, text, self.number * seen.positions, "--image-size")]

    def with_media(self, option: str, value: Any) -> Input:
        """With so many, or of that size."""
        assert isinstance(self.shape, tuple)
        channels, *sides = self.shape
        if option == "images":
            return self.model_copy(update={"number": value})
        if option == "image_size" and self.processor:
            return self.model_copy(update={"size": tuple(value)})
        if option == "image_size":
            return self.model_copy(update={"shape": (channels, *sides[:-IMAGE], *value)})
        if option == "frames":
            return self.model_copy(update={"shape": (channels, value, *sides[1:])})
        return self.model_copy(update={"shape": (channels, *sides[:-1], max(1, round(value * (self.rate or 1))))})
