"""Measured quantities in bytes, in whatever unit their key, their case or their text names.

`{"peak_memory_gib": 42.1}`, `{"peak_memory": 42.1, "unit": "GB"}` and `{"peak_memory": "42.1 GiB"}` are all read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

GIB, MIB, GB = 2**30, 2**20, 10**9
UNITS = {
    "bytes": 1,
    "b": 1,
    "kib": 2**10,
    "kb": 10**3,
    "mib": MIB,
    "mb": 10**6,
    "gib": GIB,
    "gb": GB,
    "tib": 2**40,
    "tb": 10**12,
}
NUMBER = re.compile(r"\s*([\d.,]+)\s*([A-Za-z]*)")
EACH = "_per_gpu"  # which is what every figure here is of


class Inexpressible(Exception):
    """Why a case cannot be put into archcalc's words."""


def size(measured: Mapping[str, Any], *names: str) -> float | None:
    """Bytes of the first of these quantities that was measured."""
    for name in names:
        for key, value in measured.items():
            unit = unit_of(key, name)
            if unit is not None and value is not None:
                return _bytes(value, unit or str(measured.get("unit") or ""))
    return None


def unit_of(key: str, name: str) -> str | None:
    """The unit that a key of this quantity names, empty if it names none; None for a key of another quantity."""
    key = key.lower().removesuffix(EACH)
    if key == name:
        return ""
    unit = key.removeprefix(f"{name}_")
    return unit if unit != key and unit in UNITS else None


def number(value: Any, otherwise: int = 0) -> int:
    """A whole number as tables and logs write it; what is not said is `otherwise`."""
    if value in (None, ""):
        return otherwise
    try:
        return int(float(str(value).replace(",", "")))
    except (ValueError, OverflowError):
        raise Inexpressible(f"{value} where a number is meant") from None


def _bytes(value: Any, unit: str) -> float:
    """Of a number, or of a text such as `42.1 GiB`; a comma may stand for the decimal point, as in some logs."""
    found = NUMBER.fullmatch(str(value))
    if found is None:
        raise Inexpressible(f"a figure that is no number: {value}")
    unit = (found[2] or unit).lower()
    if unit not in UNITS:
        raise Inexpressible(f"a figure in {unit}" if unit else "a figure without a unit")
    return float(found[1].replace(",", ".")) * UNITS[unit]
