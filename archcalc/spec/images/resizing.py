"""Rules by which an image stays one picture. Sources: the image processors of transformers 5.22.2."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from archcalc.core.errors import InputError
from archcalc.spec.images.seen import Picture, Seen, squares

MOST_OBLONG = 200  # times as long as wide
Sides = tuple[int, int]  # height, width


def fixed(said: Any, height: int, width: int) -> Seen:
    """Resized or cropped to one size (CLIPImageProcessor, SiglipImageProcessor)."""
    return Seen(squares(said, 1), said.vectors)


def multiples(said: Any, height: int, width: int) -> Seen:
    """Each side rounded to a multiple, then all scaled into the range of pixels (smart_resize of Qwen2-VL)."""
    step, frames, came = said.step, said.frames, f"{height:,} × {width:,}"
    height, width = _NARROW[said.narrow](height, width, step)
    if max(height, width) > MOST_OBLONG * min(height, width):
        fact = f"an image of {came} pixels is more than {MOST_OBLONG} times as long as wide"
        raise InputError(fact, "the image processor refuses it too: take another size", field="--image-size")
    tall, wide = round(height / step) * step, round(width / step) * step
    if frames * tall * wide > said.most:
        scale = math.sqrt(frames * height * width / said.most)
        tall, wide = (max(step, math.floor(side / scale / step) * step) for side in (height, width))
    elif frames * tall * wide < said.least:
        scale = math.sqrt(said.least / (frames * height * width))
        tall, wide = (math.ceil(side * scale / step) * step for side in (height, width))
    return _in_steps(tall, wide, step)


def _at_once(height: int, width: int, step: int) -> Sides:
    """Both sides by one factor (smart_resize of GLM-4.1V)."""
    scale = max(step / height, step / width)
    return (int(height * scale), int(width * scale)) if min(height, width) < step else (height, width)


def _in_turn(height: int, width: int, step: int) -> Sides:
    """The height to a step, then the width (smart_resize of PaddleOCR-VL)."""
    if height < step:
        height, width = step, round(width * step / height)
    if width < step:
        height, width = round(height * step / width), step
    return height, width


_NARROW: dict[str | None, Callable[[int, int, int], Sides]] = {
    None: lambda height, width, step: (height, width),
    "floor": _at_once,
    "round": _in_turn,
}


def padded(said: Any, height: int, width: int) -> Seen:
    """Scaled down until it has few enough patches, then padded (navit_resize of Kimi K2.5)."""
    patches = max(1, height // said.patch) * max(1, width // said.patch)
    bounds = (said.longest / height, said.longest / width, math.sqrt(said.most / patches))
    scale = min(1.0, *bounds)
    tall, wide = (min(max(1, int(side * scale)), said.longest) for side in (height, width))
    tall, wide = (math.ceil(side / said.step) * said.step for side in (tall, wide))
    return _in_steps(tall, wide, said.step)


def filled(said: Any, height: int, width: int) -> Seen:
    """Scaled up or down to as many pixels as there may be, then down to multiples; a side that has none left is a step
    long (get_aspect_ratio_preserving_size of Gemma 4)."""
    step, most = said.step, said.most // said.step**2
    scale = math.sqrt(said.most / (height * width))
    rows, columns = (math.floor(side * scale / step) for side in (height, width))
    if not rows:
        rows, columns = 1, min(width // height, most)
    elif not columns:
        rows, columns = min(height // width, most), 1
    return _in_steps(rows * step, columns * step, step)


def bounded(said: Any, height: int, width: int) -> Seen:
    """Scaled down to the longest side, then up to multiples. Each row of vectors ends with a token
    (get_resize_output_image_size and the processor of Pixtral)."""
    ratio = max(height, width) / said.longest
    if ratio > 1:
        height, width = math.floor(height / ratio), math.floor(width / ratio)
    if not (height and width):
        fact = f"nothing is left of one side where the longer one is scaled down to {said.longest:,} pixels"
        raise InputError(fact, "the image processor refuses it too: take another size", field="--image-size")
    tall, wide = (math.ceil(side / said.step) * said.step for side in (height, width))
    found = _in_steps(tall, wide, said.step)
    return found._replace(tokens=found.pictures[0].height // said.step)


def _in_steps(height: int, width: int, step: int) -> Seen:
    """A vector for each square of so many pixels."""
    return Seen((Picture(1, height, width),), (height // step) * (width // step))


BY_SIZE: dict[str, Callable[[Any, int, int], Seen]] = {
    "fixed": fixed,
    "multiples": multiples,
    "padded": padded,
    "bounded": bounded,
    "filled": filled,
}
