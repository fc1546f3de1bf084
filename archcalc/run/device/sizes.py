"""Memory sizes of devices: `24GB` as cards are rated, in binary gigabytes, or `24GiB`, which says so itself."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from archcalc.core.errors import InputError
from archcalc.spec.node import mistake, shown
from archcalc.spec.units import Rated, parse_bytes, parse_rated


def _as_bytes(value: Any) -> Any:
    """A number of bytes, or a size with its unit."""
    if not isinstance(value, str):
        return value
    try:
        size = parse_rated(value)
        return size.bytes if size else parse_bytes(value)
    except ValueError as reason:
        raise mistake(f"{reason}, found {shown(value)}") from None


Bytes = Annotated[int, Field(gt=0), BeforeValidator(_as_bytes)]


def rated(text: str, field: str = "--gpu") -> Rated | None:
    """The size that stands for a device, or None for a name."""
    try:
        return parse_rated(text)
    except ValueError as reason:
        raise InputError(f"{reason}, found {shown(text)}", field=field) from None
