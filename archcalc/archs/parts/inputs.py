"""What comes into a model of several parts: tokens, a vector, a sequence, or a map such as an image."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from archcalc.archs.network.layer import Shape
from archcalc.archs.network.sample import Input as Written
from archcalc.archs.network.sample import is_open, sample_of, usual_length
from archcalc.archs.network.values import FromZero
from archcalc.archs.parts.flow import Flow
from archcalc.archs.transformer.nodes import Sides
from archcalc.core.assumptions import Assumption, Topic
from archcalc.layers.patches import both_sides, times
from archcalc.spec.images import Images, Seen
from archcalc.spec.node import Node, Size, field

IMAGE, CLIP = 2, 3  # sides of a map
USUAL_IMAGE = (768, 1024)  # height and width of one that nobody describes


@dataclass(frozen=True)
class Entering:
    """What enters a model of an input: pictures as a processor makes them, and how many vectors of all of a sample's
    images stand in the text, where these are not all that a tower gives."""

    shape: Written
    number: int
    kept: int = 0


class Input(Node):
    """One thing that comes in."""

    main: ClassVar[str] = "shape"
    shape: Written = field(
        ...,
        "What it is: `tokens`, or `40 tokens` where a sample usually has so many; `12` for a vector; channels and sides"
        " of a map; `80 × seq` for a sequence.",
        example="3 × 224 × 224",
    )
    number: FromZero = field(
        1,
        "How many of them a sample has, such as the images of a prompt; 0: none, so that what reads them is not run.",
        example=2,
    )
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
    frames: Size | None = field(
        None,
        "With a processor, of a video: how many there are. As many as a patch holds are seen as one image is.",
        example=16,
        unset="it is an image",
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
        number = self.number or 1
        flow = Flow(sample_of(self.shape, length), number, name, is_absent=not self.number)
        if not self.processor:
            return flow
        seen = self.seen
        (picture,) = seen.pictures
        shape = Shape(flow.shape.channels, (*flow.shape.sides[:-IMAGE], picture.height, picture.width))
        return replace(flow, shape=shape, number=number * picture.number, kept=number * seen.vectors)

    @property
    def for_witness(self) -> Entering:
        """All that a second witness is told of it."""
        if not self.processor:
            return Entering(self.shape, self.number)
        flow = self.flow(1)
        return Entering((flow.shape.channels, *flow.shape.sides), flow.number, flow.kept)

    @property
    def seen(self) -> Seen:
        """What a model gets of one image."""
        assert self.processor
        return self.processor.seen(*both_sides(self.size or USUAL_IMAGE))

    def told(self, each: int) -> list[Assumption]:
        """How much of a sequence images or audio take, of which each has so many positions."""
        topic, option = (Topic.IMAGES, "--image-size") if self.is_image else (Topic.AUDIO, "--audio-seconds")
        if not self.number:
            return [Assumption(topic, f"no {topic.value}: what reads nothing else has its weights, and is not run", 0)]
        if not each:  # the spec says its size, which adds nothing to a sequence
            return []
        positions = f"{each:,} position" if each == 1 else f"{each:,} positions"
        of_each = f"{positions} each" if self.number > 1 else positions
        return [Assumption(topic, f"{self._described()}: {of_each}", self.number * each, option)]

    def _described(self) -> str:
        """`2 images of 1280 × 720 pixels, seen as 1280 × 704`, `30 s of audio`."""
        sides = [side for side in self.shape if isinstance(side, int)]
        several = f"{self.number:,} × " if self.number > 1 else ""
        if not self.is_image:
            return f"{several}{sides[-1] / (self.rate or 1):g} s of audio"
        images = f"{self.number:,} images" if self.number > 1 else "1 image"
        if self.frames:
            images = f"{self.number:,} × {sides[1]:,} frames of video"
        if not self.processor:
            return f"{images} of {times(*reversed(sides[-IMAGE:]))} pixels"
        (picture,), (height, width) = self.seen.pictures, both_sides(self.size or USUAL_IMAGE)
        pictures = f"{picture.number} × " if picture.number > 1 else ""
        seen = f"seen as {pictures}{times(picture.width, picture.height)}"
        return f"{images} of {times(width, height)} pixels, {seen}"

    def with_media(self, option: str, value: Any) -> Input:
        """With so many, or of that size."""
        assert isinstance(self.shape, tuple)
        channels, *sides = self.shape
        if option == "images" or not value:
            return self.model_copy(update={"number": int(value)})
        if option == "image_size" and self.processor:
            return self.model_copy(update={"size": tuple(value)})
        if option == "image_size":
            return self.model_copy(update={"shape": (channels, *sides[:-IMAGE], *value)})
        if option == "frames" and self.processor:  # patches of several frames: so many images, one behind the other
            return self.model_copy(update={"number": (self.number or 1) * -(-value // sides[0]), "frames": value})
        if option == "frames":
            return self.model_copy(update={"shape": (channels, value, *sides[1:])})
        long = max(1, round(value * (self.rate or 1)))  # of audio: there is one, though the spec may have none
        return self.model_copy(update={"shape": (channels, *sides[:-1], long), "number": self.number or 1})
