"""Spec fields that are used in many places: norms, and values that several nodes take."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from archcalc.spec.node import Node, as_size, field, mistake


def list_as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def flag_or(words: tuple[str, ...], value: Any) -> Any:
    """Accepts true, false, or one of these words."""
    if isinstance(value, bool) or value in words:
        return value
    raise mistake(f"expected true, false or {' or '.join(words)}")


def flag_or_some(words: tuple[str, ...], value: Any) -> Any:
    """Accepts true, false, or a list of some of these words."""
    if isinstance(value, bool):
        return value
    if isinstance(value, list | tuple) and value and all(item in words for item in value):
        return tuple(value)
    raise mistake(f"expected true, false or a list of {', '.join(words)}")


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
