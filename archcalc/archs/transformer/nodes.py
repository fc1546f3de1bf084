"""Spec fields that are used in many places: norms and position encodings."""

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from archcalc.spec.node import Node, OneOrMore, Size, as_size, as_tuple, field, mistake


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def flag_or(*words: str) -> Callable[[Any], Any]:
    """Accepts true, false, or one of the given words."""

    def read(value: Any) -> Any:
        if isinstance(value, bool) or value in words:
            return value
        raise mistake(f"expected true, false or {' or '.join(words)}")

    return read


def flag_or_size(value: Any) -> Any:
    return value if isinstance(value, bool) else as_size(value)


def _sides(value: Any) -> Any:
    """One number for a square, two for height and width."""
    if not isinstance(value, list | tuple):
        return as_size(value)
    if len(value) != 2:
        raise mistake(f"expected one number or [height, width], found {len(value)} numbers")
    return tuple(as_size(side) for side in value)


_SIDE = {"type": "integer", "minimum": 1}
_SIDES_SCHEMA = {"anyOf": [_SIDE, {"type": "array", "items": _SIDE, "minItems": 2, "maxItems": 2}]}
Sides = Annotated[int | tuple[int, int], BeforeValidator(_sides), WithJsonSchema(_SIDES_SCHEMA)]


Fraction = Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)]
Terms = Annotated[tuple[Literal["c2p", "p2c"], ...], BeforeValidator(_as_tuple)]
OwnProjections = Annotated[tuple[Literal["q", "k"], ...], BeforeValidator(_as_tuple)]


class Norm(Node):
    """Normalisation: its kind, and its place: `pre` (before the branch), `post` (after the add), `out` (on the
    branch, before the add) or `sandwich` (pre and out)."""

    main: ClassVar[str] = "kind"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {
        "layer": frozenset({"bias", "affine", "place", "final"}),
        "rms": frozenset({"affine", "place", "final"}),
        "none": frozenset({"place", "final"}),
    }
    kind: Literal["layer", "rms", "none"] = field(
        "layer", "The kind of norm: layer norm, RMS norm or none.", example="rms"
    )
    bias: bool = field(True, "Layer norms have a bias.", example=False)
    affine: bool = field(True, "Norms have learned scales.", example=False)
    place: Literal["pre", "post", "out", "sandwich"] = field(
        "pre",
        "Where the norm stands: `pre` (before the part), `post` (behind the residual addition), `out` (on the"
        " part's output, before the addition) or `sandwich` (pre and out).",
        example="post",
    )
    final: bool | None = field(
        None, "One more norm stands after the last block.", example=False, unset="true, unless the place is post"
    )


class Position(Node):
    """The position encoding."""

    main: ClassVar[str] = "kind"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {
        "none": frozenset(),
        "sinusoidal": frozenset({"length", "stored"}),
        "learned": frozenset({"length", "offset"}),
        "rope": frozenset({"length", "theta", "fraction", "stored"}),
        "alibi": frozenset({"length"}),
        "relative": frozenset({"length", "buckets", "grid", "per"}),
        "disentangled": frozenset({"length", "buckets", "terms", "project", "norm"}),
        "shaw": frozenset({"length", "distance", "values"}),
        "transformer-xl": frozenset({"length", "memory", "shared"}),
    }
    needed_of: ClassVar[dict[str, tuple[str, ...]]] = {
        "learned": ("length",),
        "disentangled": ("buckets",),
        "shaw": ("distance",),
        "transformer-xl": ("memory",),
    }
    kind: Literal[
        "none", "sinusoidal", "learned", "rope", "alibi", "relative", "disentangled", "shaw", "transformer-xl"
    ] = field("none", "The position encoding.", example="rope")
    length: Size | None = field(
        None,
        "The longest sequence; a learned table has that many rows.",
        example=1024,
        unset="no limit; learned positions need it",
    )
    stored: bool = field(
        False,
        "Sinusoids, or the angles of RoPE, are stored as a parameter that is not trained.",
        example=True,
        beside={"length": 1024},
    )
    offset: Annotated[int, Field(ge=0, le=1024)] = field(
        0, "Rows in front of a learned table that no token uses, as in OPT and BART.", example=2
    )
    theta: Annotated[float, Field(gt=0, allow_inf_nan=False)] = field(
        10_000.0, "The base of RoPE's angles.", example=500000.0
    )
    fraction: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] = field(
        1.0, "The share of each head that RoPE rotates.", example=0.25
    )
    buckets: Size | None = field(
        None,
        "How many distances relative positions tell apart; disentangled ones have as many to each side.",
        example=32,
        unset="needed by relative positions, unless they are of an image's patches",
    )
    grid: Sides | None = field(
        None,
        "Relative positions tell rows and columns of an image's patches apart, instead of buckets: all of them.",
        example=[14, 14],
        unset="that of the image",
    )
    terms: Terms = field(
        ("c2p", "p2c"),
        "What disentangled attention adds to the scores: content looking at positions, positions looking at content.",
        example=["c2p"],
    )
    project: OwnProjections = field(
        (), "Projections that the table of disentangled positions has of its own.", example=["q", "k"]
    )
    norm: bool = field(False, "A norm on the table of disentangled positions.", example=True)
    distance: Size | None = field(
        None,
        "Shaw's relative positions: the largest distance with a vector of its own, to each side.",
        example=16,
        unset="needed by shaw",
    )
    values: bool = field(
        True, "Shaw's relative positions have vectors for values too, not for keys alone.", example=False
    )
    memory: Size | None = field(
        None,
        "Transformer-XL: how many positions of earlier segments each attention looks at, besides its own segment.",
        example=150,
        unset="needed by transformer-xl",
    )
    shared: bool = field(
        True,
        "Transformer-XL: all blocks of a stack share the biases u and v, or each block has its own.",
        example=False,
    )
    per: Literal["stack", "block"] = field(
        "stack",
        "Whether all blocks of a stack share a table of relative positions, or each has one.",
        example="block",
        beside={"buckets": 32},
    )


Positions = Annotated[tuple[Position, ...], BeforeValidator(as_tuple), OneOrMore()]
