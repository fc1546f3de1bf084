"""Raw values as words, the same in every format that people read."""

from __future__ import annotations

from typing import Any

from archcalc.report import Figure
from archcalc.sizes import binary_bytes, decimal_bytes, rounded


def cell(value: Any, unit: str) -> str:
    if value is None or value == "":
        return ""
    if unit == "count":
        return f"{value:,}"
    if unit == "bytes":
        return decimal_bytes(value)
    if unit == "times":
        return f"× {value:,}" if value != 1 else ""
    if unit == "share":
        return f"{value:.1%}".replace("%", " %")
    return " × ".join(map(str, value)) if unit == "shape" else str(value)


def figure(answer: Figure) -> str:
    """`201,466,160 · 201.5 M`: exact, then rounded; bytes in decimal and binary units."""
    if answer.unit == "bytes":
        return f"{answer.value:,} bytes · {decimal_bytes(answer.value)} · {binary_bytes(answer.value)}"
    return f"{answer.value:,} · {rounded(answer.value)}" if answer.value >= 1000 else f"{answer.value:,}"
