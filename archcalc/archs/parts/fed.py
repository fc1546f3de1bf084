"""A model of several parts with other images, or more audio, than its spec says."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from archcalc.archs.parts.inputs import Input
from archcalc.archs.parts.model import Parts
from archcalc.archs.parts.spec import Spec
from archcalc.core.errors import InputError
from archcalc.spec.media import Media, refused
from archcalc.spec.option import flag_of

READS: dict[str, tuple[str, Callable[[Input], bool]]] = {  # what an option is about, and the inputs that are that
    "images": ("images", lambda one: one.is_image),
    "image_size": ("images", lambda one: one.is_image),
    "audio_seconds": ("audio", lambda one: bool(one.rate)),
    "frames": ("video", lambda one: one.is_clip),
}


def fed(spec: Spec, media: Media) -> Spec:
    """The spec with these inputs."""
    inputs = dict(spec.inputs or ({"input": spec.input} if spec.input else {}))
    for option, value in media.given().items():
        name = _about(inputs, option)
        inputs[name] = inputs[name].with_media(option, value)
    return spec.model_copy(update={"inputs": inputs, "input": None})


class AnotherImage(NamedTuple):
    """How many images a sequence has with it, and the positions that it takes there."""

    number: int
    positions: int


def another_image(model: Parts) -> AnotherImage | None:
    """Of the first input of images that stand in a sequence with tokens."""
    for name, one in model.inputs.items():
        if one.is_image and (positions := model.taken_by(name)):
            return AnotherImage(one.number + 1, positions)
    return None


def _about(inputs: dict[str, Input], option: str) -> str:
    """The one input that an option is about."""
    reads, is_that = READS[option]
    names = [name for name, one in inputs.items() if is_that(one)]
    if not names:
        raise refused(option, reads)
    if len(names) > 1:
        hint = f"change one of them: --set inputs.{names[0]}.shape=…"
        raise InputError(f"{' and '.join(names)} are {reads}", hint, field=flag_of(option))
    return names[0]
