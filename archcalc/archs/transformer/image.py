"""Embeddings of kind `patches`: resolves image and patch sizes, or raises an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from archcalc.core.errors import InputError
from archcalc.layers.patches import Patches, Sides, both_sides
from archcalc.spec.gathering import STAND_IN, tell

if TYPE_CHECKING:
    from archcalc.archs.transformer.parts.part import Surroundings


def patches(around: Surroundings) -> Patches:
    embedding = around.scope.embedding
    if around.stack == "decoder":
        hint = "put the image under the encoder: `encoder: {embedding: {kind: patches, …}}`"
        raise InputError("a decoder reads tokens, not patches", hint, fields=around.places("embedding"))
    image, patch = both_sides(_needed(around, "image", 224)), both_sides(_needed(around, "patch", 16))
    _check_divides(around, "image", image, patch)
    pretrained = both_sides(embedding.pretrained) if embedding.pretrained else None
    if pretrained:
        _check_divides(around, "pretrained", pretrained, patch)
    return Patches(
        image=image,
        patch=patch,
        channels=embedding.channels,
        tokens=embedding.tokens,
        registers=embedding.registers,
        mask=embedding.mask,
        bias=embedding.bias is not False,
        pretrained=pretrained,
    )


def _needed(around: Surroundings, field: str, example: int) -> int | Sides:
    value: int | Sides | None = getattr(around.scope.embedding, field)
    if value is None:
        hint = f"write `{field}: {example}`, or [height, width]"
        name = f"embedding.{field}"
        tell(InputError(f"patches need {field}", hint, fields=around.places("embedding"), field=name))
        return STAND_IN
    return value


def _check_divides(around: Surroundings, field: str, image: Sides, patch: Sides) -> None:
    """PyTorch would silently drop the rest of the image."""
    for side, length, step in zip(("height", "width"), image, patch, strict=True):
        if length % step:
            which = field if image[0] == image[1] else f"{field} {side}"
            sizes = [str(size) for size in (length - length % step, length - length % step + step) if size]
            fact = f"{which} {length} does not divide into patches of {step}"
            raise InputError(fact, f"use {' or '.join(sizes)}", fields=around.places("embedding", field)[:2])
