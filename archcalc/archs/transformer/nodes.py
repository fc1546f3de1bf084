"""Spec fields that are used in many places: norms and position encodings."""

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from archcalc.spec.node import Node, OneOrMore, Size, as_size, as_tuple, mistake


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
    kind: Literal["layer", "rms", "none"] = "layer"
    bias: bool = True
    affine: bool = True
    place: Literal["pre", "post", "out", "sandwich"] = "pre"
    final: bool | None = None  # a norm behind the last block: yes, unless post


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
    }
    kind: Literal["none", "sinusoidal", "learned", "rope", "alibi", "relative", "disentangled"] = "none"
    length: Size | None = None  # the longest sequence; learned positions need it
    stored: bool = False  # sinusoids, or RoPE's angles, kept as a frozen parameter
    offset: Annotated[int, Field(ge=0, le=1024)] = 0  # rows in front that no token uses (OPT and BART: 2)
    theta: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 10_000.0
    fraction: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] = 1.0  # of each head that is rotated
    buckets: Size | None = None  # distances that are told apart; disentangled: to each side
    grid: Sides | None = None  # of patches, in the place of buckets; the image's own if neither is said
    terms: Terms = ("c2p", "p2c")  # content looks at positions, positions at content
    project: OwnProjections = ()  # projections that the position table has of its own
    norm: bool = False  # on the position table
    per: Literal["stack", "block"] = "stack"


Positions = Annotated[tuple[Position, ...], BeforeValidator(as_tuple), OneOrMore()]
