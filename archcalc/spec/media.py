"""What a model reads besides tokens, as a user asks for it: how many images of which size, how much audio."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from archcalc.core.errors import InputError
from archcalc.spec.option import declared, flag_of, option
from archcalc.spec.option_checks import number, size
from archcalc.spec.units import LARGEST

_SIZE = re.compile(r"\s*([0-9]{1,6})\s*(?:[x×*,]\s*([0-9]{1,6})\s*)?")
MOST_SECONDS = 10**6


class ImageSize(NamedTuple):
    """In pixels."""

    height: int
    width: int

    def __str__(self) -> str:
        return f"{self.width} × {self.height}"


def image_size(value: Any, name: str) -> ImageSize:
    """`1024x768` is its width and its height; one number is both."""
    if isinstance(value, tuple | list) and len(value) == 2:
        return ImageSize(size(value[1], name), size(value[0], name))
    found = _SIZE.fullmatch(str(value)) if isinstance(value, str | int) and not isinstance(value, bool) else None
    sides = [int(side) for side in found.groups() if side] if found else []
    if not sides or not all(1 <= side <= LARGEST for side in sides):
        hint = "write width and height in pixels, such as 1024x768, or one number for a square"
        raise InputError(f"expected the size of an image, found {str(value)[:40]}", hint, field=name)
    return ImageSize(sides[-1], sides[0])


def seconds(value: Any, name: str) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = -1.0
    if isinstance(value, bool) or not 0 <= found <= MOST_SECONDS:
        fact = f"expected a number of seconds from 0 to {MOST_SECONDS:,}, found {str(value)[:40]}"
        raise InputError(fact, "write it as 30 or 0.5", field=name)
    return found


@dataclass(frozen=True)
class Media:
    """None is what the spec says."""

    images: int | None = option("Images in each sequence; 0: a text alone.", number, first=True)
    image_size: tuple[int, int] | None = option(
        "The size of each image in pixels, width × height. Models that resize every image to one size say so.",
        image_size,
        metavar="WxH",
        example="1024x768",
    )
    audio_seconds: float | None = option(
        "Seconds of audio in each sequence; 0: none.", seconds, metavar="SECONDS", example="30"
    )
    frames: int | None = option("Frames of each video.", size)

    def given(self) -> dict[str, Any]:
        """By name, without what was left out."""
        return {name: value for name, value in vars(self).items() if value is not None}

    def asks_for(self, medium: str) -> bool:
        """Whether any images, or audio, were asked for: none where nothing is said of them."""
        said = {"images": (self.images, self.image_size, self.frames), "audio": (self.audio_seconds,)}[medium]
        return any(said) and said[0] != 0

    @property
    def is_of_another_size(self) -> bool:
        """Whether images may be of another size than the spec's, which some weights are made for."""
        return self.image_size is not None or self.frames is not None

    def changed(self, other: Media) -> Media:
        """With what the other one says."""
        return replace(self, **other.given())

    @classmethod
    def of(cls, values: dict[str, Any]) -> Media:
        """Each value checked, as it is written on the command line or in Python."""
        known = dict(declared(Media))
        return cls(
            **{name: known[name].read(value, flag_of(name)) for name, value in values.items() if value is not None}
        )


NOTHING_ASKED = Media()
ASKED_BY = {"images": "images", "audio": "audio_seconds"}  # the option that asks for each


def refused(name: str, reads: str) -> InputError:
    """An option about something that a model does not read."""
    option = flag_of(name)
    return InputError(f"this model reads no {reads}", f"leave {option} out", field=option)
