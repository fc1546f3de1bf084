"""What a stack reads: the widths of its embedding tables and their projection to d_model, audio, patches of images."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from archcalc.core.derived import Derived
from archcalc.core.errors import InputError
from archcalc.core.ir import Dim
from archcalc.layers.patches import Patches, Sides, both_sides
from archcalc.spec.gathering import STAND_IN, tell

if TYPE_CHECKING:
    from archcalc.archs.transformer.parts.part import Surroundings
    from archcalc.archs.transformer.spec import Embedding
    from archcalc.layers.audio import Audio


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


def token_tables(around: Surroundings) -> Tables:
    embedding = around.scope.embedding
    width = embedding.width or Derived(around.d_model)
    projects = embedding.kind == "tokens" and (width != around.d_model or embedding.always_project)
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
    from archcalc.layers.audio import Audio, AudioConv

    embedding = around.scope.embedding
    if around.stack == "decoder":
        hint = "put the audio under the encoder: `encoder: {embedding: {kind: audio, mels: 80}}`"
        raise InputError("a decoder reads tokens, not audio", hint, fields=around.places("embedding"))
    if embedding.samples and "mels" in embedding.model_fields_set:
        hint = "leave one of them out"
        raise InputError("samples have no mels", hint, fields=around.places("embedding", "mels")[:2])
    channels = embedding.channels_out or (Derived(around.d_model),) * len(embedding.kernels)
    norms, acts = (_for_each(embedding, name) for name in ("norms", "acts"))
    _check_each(around, channels_out=channels, strides=embedding.strides, norms=norms, acts=acts)
    convs = tuple(
        AudioConv(made, kernel, stride, embedding.padded, embedding.bias is not False, norm, act)
        for made, kernel, stride, norm, act in zip(
            channels, embedding.kernels, embedding.strides, norms, acts, strict=True
        )
    )
    projects = embedding.always_project or channels[-1] != around.d_model
    found = Audio(
        embedding.mels, embedding.samples, convs, embedding.features_norm, projects, embedding.mask, embedding.rate
    )
    return replace(found, usual=_usual(around, found)) if embedding.seconds else found


def _written(around: Surroundings) -> tuple[Any, ...]:
    """Position encodings as the spec has them."""
    found: tuple[Any, ...] = around.scope.position
    return found


def _usual(around: Surroundings, audio: Audio) -> int:
    """Positions of a recording as long as the spec says."""
    seconds, at = around.scope.embedding.seconds or 0, around.places("embedding", "seconds")[:2]
    if not audio.rate:
        raise InputError("seconds without a rate", "add `rate: 100`, or take seconds out", fields=at)
    positions = audio.positions(round(seconds * audio.rate))
    if not positions:
        fact = f"{seconds:g} seconds are too short for the convolutions to make a position of"
        raise InputError(fact, "use more seconds", fields=at)
    longest = min((table.length for table in _written(around) if table.length), default=positions)
    if positions > longest:
        fact = f"{seconds:g} seconds are {positions:,} positions, and the position table ends at {longest:,}"
        raise InputError(fact, f"use {longest * seconds / positions:g} seconds or less", fields=at)
    return positions


def _for_each(embedding: Embedding, name: str) -> tuple[str, ...]:
    """What stands behind each convolution; a single word stands for all."""
    said: tuple[str, ...] = getattr(embedding, name)
    return said * len(embedding.kernels) if len(said) == 1 else said


def _check_each(around: Surroundings, **several: tuple[object, ...]) -> None:
    """As many of everything as there are kernels."""
    kernels = len(around.scope.embedding.kernels)
    for name, each in several.items():
        if len(each) != kernels:
            fact = f"{kernels} kernels, but {len(each)} {name}"
            raise InputError(fact, "give each convolution both", fields=around.places("embedding", name)[:2])


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
