"""Words of the spec that hold in many places: norms and position encodings."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from archcalc.spec import Node, Size


def _one_or_more(value: Any) -> Any:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


class Norm(Node):
    """Normalisation: its kind, and where it stands: `pre` (before the branch), `post` (after the add), `out` (on the
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
    """How the model knows where a token stands."""

    main: ClassVar[str] = "kind"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {
        "none": frozenset(),
        "sinusoidal": frozenset({"length", "stored"}),
        "learned": frozenset({"length", "offset"}),
        "rope": frozenset({"length", "theta", "fraction"}),
        "alibi": frozenset({"length"}),
        "relative": frozenset({"length", "buckets", "per"}),
    }
    kind: Literal["none", "sinusoidal", "learned", "rope", "alibi", "relative"] = "none"
    length: Size | None = None  # the longest sequence; learned positions need it
    stored: bool = False  # sinusoids kept as a frozen parameter
    offset: Annotated[int, Field(ge=0, le=1024)] = 0  # rows in front that no token uses (OPT and BART: 2)
    theta: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 10_000.0
    fraction: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] = 1.0  # of each head that is rotated
    buckets: Size | None = None
    per: Literal["stack", "block"] = "stack"


Positions = Annotated[tuple[Position, ...], BeforeValidator(_one_or_more)]
