"""What a stack reads: the widths of its embedding tables and their projection to d_model, audio, patches of images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from archcalc.core.derived import Derived
from archcalc.core.errors import InputError
from archcalc.core.ir import Dim
from archcalc.layers.patches import Patches, Sides, both_sides
from archcalc.spec.gathering import STAND_IN, tell

if TYPE_CHECKING:
    from archcalc.archs.transformer.parts.part import Surroundings


@dataclass(frozen=True)
class Tables:
    """The width of the token embedding, and of tables added to it before the projection."""

    width: int
    projects: bool
    project: str  # norm, sum or tokens
    project_bias: bool

    @property
    def dim(self) -> Dim:
        """The last dim of the token table."""
        return Dim.of("embedding_width" if self.projects else "d_model", self.width)


@dataclass(frozen=True)
class Audio:
    """Frames of a spectrogram, and the convolutions that make positions of them."""

    mels: int
    kernels: tuple[int, ...]
    strides: tuple[int, ...]

    def frames(self, positions: int, after: int = 0) -> int:
        """The sequence length after the first `after` convolutions, for `positions` at the end."""
        for stride in self.strides[after:]:
            positions *= stride
        return positions

    def positions(self, frames: int) -> int:
        """The sequence length for so many frames: every convolution keeps one position in so many as its stride."""
        for stride in self.strides:
            frames = -(-frames // stride)
        return frames


def token_tables(around: Surroundings) -> Tables:
    embedding = around.scope.embedding
    width = embedding.width or Derived(around.d_model)
    projects = width != around.d_model or embedding.always_project
    for field in ("project", "project_bias"):
        if field in embedding.model_fields_set and not projects:
            fact = f"{field} without a width to project from"
            hint = f"give the tables a width that is not d_model {around.d_model}, or take {field} out"
            raise InputError(fact, hint, fields=around.places("embedding", field)[:2])
    if embedding.joined and projects:
        hint = "leave joined or width out"
        raise InputError(
            "concatenated tables are already projected", hint, fields=around.places("embedding", "joined")[:2]
        )
    bias = embedding.project_bias
    if bias is None:
        bias = embedding.project == "norm"
    return Tables(width, projects, embedding.project, bias)


def audio(around: Surroundings) -> Audio:
    embedding = around.scope.embedding
    if around.stack == "decoder":
        hint = "put the audio under the encoder: `encoder: {embedding: {kind: audio, mels: 80}}`"
        raise InputError("a decoder reads tokens, not audio", hint, fields=around.places("embedding"))
    if len(embedding.kernels) != len(embedding.strides):
        fact = f"{len(embedding.kernels)} kernels, but {len(embedding.strides)} strides"
        raise InputError(fact, "give each convolution both", fields=around.places("embedding", "strides")[:2])
    return Audio(embedding.mels, embedding.kernels, embedding.strides)


def patches(around: Surroundings) -> Patches:
    """The image and patch sizes of an embedding of kind `patches`, or an error."""
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
        frames=embedding.frames,
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
