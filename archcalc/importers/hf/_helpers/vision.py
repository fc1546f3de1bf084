"""Vision towers that take images of any size and stand in larger models: what comes in, positions, and what merges
their patches."""

from __future__ import annotations

from math import isqrt
from typing import Any

from archcalc.importers.hf._helpers.reading import Config, Fields
from archcalc.importers.hf._helpers.words import rope

IMAGES = "images"
USUAL_IMAGE = 448  # pixels of a side, where neither the file nor the class names any


def usual_side(step: int) -> int:
    """The side of an image that is a whole number of merged patches."""
    return max(round(USUAL_IMAGE / step), 1) * step


def usual_image(c: Config, step: int) -> int:
    """The same, with a line that says so where no image processor does."""
    side = usual_side(step)
    if not c.inside:
        c.notes.append(f"the class takes images of any size: counted for {side} × {side} pixels")
    return side


def frames(number: int) -> list[int]:
    """The first side of what comes in, where patches hold several frames."""
    return [number] if number > 1 else []


def axial_rope(c: Config, width: int) -> Fields:
    """RoPE by the row and the column of a patch; none where heads are too odd for it, so that a model cannot run."""
    found = rope(c, width)
    if width % 4:
        c.notes.append(f"RoPE by row and column rotates pairs in both halves of a head, and not {width} numbers")
        return {"kind": "none"}
    return {"kind": "rope", "axes": 2, "theta": found["theta"]}


def interpolated(c: Config, rows: int, key: str) -> Fields:
    """A learned table of a square grid, interpolated to that of the image."""
    side = isqrt(rows)
    if side * side != rows:
        raise c.refused(key, "positions of so many patches make no square")
    return {"kind": "learned", "interpolated": side}


def merger(width: int, merged: int, out: int, *, norm: str = "layer", norm_behind: bool = False) -> list[Any]:
    """Qwen's: a norm, neighbouring patches side by side, and two linear layers; or the norm behind them."""
    first: list[Any] = [{"norm": norm}, {"merge": merged}]
    if norm_behind:
        first.reverse()
    return [*first, {"linear": width * merged, "act": "gelu"}, {"linear": out}]


def tower(vision: Fields, image: list[int], **behind: list[Any]) -> Fields:
    """A tower with further layers behind its blocks, each list a part of its own."""
    further = {name: {"layers": layers} for name, layers in behind.items()}
    said = {key: value for key, value in vision.items() if value not in (None, {})}
    parts = {"vision": {"reads": IMAGES, **said}, **further}
    return {"family": "parts", "inputs": {IMAGES: image}, "parts": parts, "loss": "none"}


def mergeable(c: Config, seen: Fields, side: int) -> Fields:
    """A tower whose image is a whole number of merged patches along each side."""
    embedding = seen["embedding"]
    image, patch = (_both_sides(embedding[key]) for key in ("image", "patch"))
    grid = [length // step for length, step in zip(image, patch, strict=True)]
    whole = [max(number // side, 1) * side * step for number, step in zip(grid, patch, strict=True)]
    if whole == image:
        return seen
    c.notes.append(f"patches are merged {side} by {side}: counted for {whole[0]} × {whole[1]} pixels")
    found = {**seen, "embedding": {**embedding, "image": whole}}
    if seen.get("position") == "learned":  # the table stays as large as it is
        found["position"] = {"kind": "learned", "interpolated": grid}
    return found


def image_of(vision: Fields) -> tuple[Fields, list[int]]:
    """A tower without the size of its image, which its input has; and that input's shape."""
    embedding = dict(vision["embedding"])
    image, channels = embedding.pop("image"), embedding.pop("channels", 3)
    return {**vision, "embedding": embedding}, [channels, *_both_sides(image)]


def _both_sides(said: int | list[int]) -> list[int]:
    return said if isinstance(said, list) else [said, said]
