"""What comes in, as a spec writes it: `784`, `3 × 32 × 32`, `tokens`, `40 tokens`, `80 × seq`.

Where the number of positions is left open, `--seq` says how many there are, or `seq` in the spec.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from archcalc.archs.network.layer import Shape
from archcalc.spec.node import as_size, mistake, shown

MOST_SIDES = 3
OPEN, TOKENS = "seq", "tokens"
_TOKENS = re.compile(r"(?:(\S+)\s+)?tokens?")
_BETWEEN = re.compile(r"(?<=\S)\s*[×x*,]\s*(?=\S)")
Written = str | tuple[int | str, ...]


def as_shape(value: Any) -> Any:
    """`[3, 224, 224]`, `3 × 224 × 224` or `784`: channels, then the sides."""
    return tuple(as_size(size) for size in _sizes(value))


def as_input(value: Any) -> Any:
    """A shape, tokens, or the features and the open side of a sequence."""
    tokens = _TOKENS.fullmatch(value.strip()) if isinstance(value, str) else None
    if tokens:
        return f"{as_size(tokens[1])} {TOKENS}" if tokens[1] else TOKENS
    sizes = _sizes(value)
    if OPEN not in sizes:
        return as_shape(value)
    if len(sizes) != 2 or sizes.count(OPEN) > 1:
        raise mistake(f"expected the features of each position and {OPEN}, such as 80 × {OPEN}, found {shown(value)}")
    return tuple(size if size == OPEN else as_size(size) for size in sizes)


def _sizes(value: Any) -> list[Any]:
    sizes = _BETWEEN.split(value.strip()) if isinstance(value, str) else value
    sizes = list(sizes) if isinstance(sizes, list | tuple) else [sizes]
    if not 1 <= len(sizes) <= 1 + MOST_SIDES:
        raise mistake(f"expected channels and up to {MOST_SIDES} sides, such as 3 × 224 × 224, found {shown(value)}")
    return sizes


_EACH = {"type": ["integer", "string"]}
_SHAPE_SCHEMA = {
    "anyOf": [{"type": "array", "items": {"type": "integer", "minimum": 1}}, {"type": ["integer", "string"]}]
}
_INPUT_SCHEMA = {"anyOf": [{"type": "array", "items": _EACH}, _EACH]}
Sample = Annotated[tuple[int, ...], BeforeValidator(as_shape), WithJsonSchema(_SHAPE_SCHEMA)]
SampleOrTrue = Annotated[
    tuple[int, ...] | bool,
    BeforeValidator(lambda value: value if isinstance(value, bool) else as_shape(value)),
    WithJsonSchema({"anyOf": [*_SHAPE_SCHEMA["anyOf"], {"type": "boolean"}]}),
]
Input = Annotated[Written, BeforeValidator(as_input), WithJsonSchema(_INPUT_SCHEMA)]


def is_open(written: Written) -> bool:
    """Whether it leaves the number of positions open."""
    return isinstance(written, str) or OPEN in written


def usual_length(written: Written) -> int | None:
    """The number of tokens that it names."""
    return as_size(written.split()[0]) if isinstance(written, str) and written != TOKENS else None


def sample_of(written: Written, length: int) -> Shape:
    """The shape of one sample, with so many positions where they are open."""
    if isinstance(written, str):
        return Shape(1, (length,), is_ids=True)
    sizes = [int(size) for size in written if size != OPEN]
    if OPEN in written:
        return Shape.sequence(length, *sizes)
    return Shape(sizes[0], tuple(sizes[1:]))
