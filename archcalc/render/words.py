"""Raw values as words, the same in every format that people read."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from archcalc.render.bars import stacked
from archcalc.report.base import Figure
from archcalc.spec.units import binary_bytes, decimal_bytes, flops, rounded

ROUNDING = 1e-10  # in float64, after a few thousand operations at the most
THOUSAND = 1000
SIMPLE = 12  # the largest denominator that is read at a glance


def cell(value: Any, unit: str) -> str:
    if value is None and unit == "bound":
        return "–"
    if value is None or value == "":
        return ""
    if unit == "count":
        return f"{value:,}" if isinstance(value, int) else str(value)
    if unit == "bytes":
        return decimal_bytes(value)
    if unit == "binary":
        return binary_bytes(value)
    if unit == "stack":
        return stacked(*value)
    if unit == "room":
        return binary_bytes(value) if value >= 0 else f"−{binary_bytes(-value)}"
    if unit == "bound":
        return f"{value:,}" if isinstance(value, int) else str(value)
    if unit == "bandwidth":
        return f"{decimal_bytes(value)}/s"
    if unit == "tera":
        return f"{value / 10**12:,.1f}"
    if unit == "times":
        return f"× {value:,}" if value != 1 else ""
    if unit == "share":
        return "<0.1 %" if 0 < value < 0.0005 else f"{100 * value:.1f} %"
    if unit == "change":
        return f"{value:+,}".replace("-", "−") if value else "="
    if unit == "ratio":
        return ratio(value)
    if unit == "residual":
        return residual(value)
    return " × ".join(map(str, value)) if unit == "shape" else str(value)


def residual(value: float) -> str:
    """What rounding leaves differs from machine to machine, so only its bound is printed."""
    if value < ROUNDING:
        return f"< {ROUNDING:.0e}"
    return f"{value:.3g}" if value < THOUSAND else f"{value:,.0f}"


def ratio(value: Fraction) -> str:
    """`3/4` and `2` are exact; `0.940` is rounded."""
    if value.denominator <= SIMPLE and value.numerator < SIMPLE**2:
        return str(value)
    return f"{float(value):,.3f}" if value >= Fraction(1, 100) else f"{float(value):.2g}"


def figure(answer: Figure) -> tuple[str, str]:
    """The value to the last digit, and what it comes to roughly: `201,466,160` and `· 201.5 M`."""
    if answer.unit == "bytes":
        return f"{answer.value:,}", f"· {decimal_bytes(answer.value)} · {binary_bytes(answer.value)}"
    roughly = flops(answer.value) if answer.unit == "flops" else rounded(answer.value)
    return f"{answer.value:,}", f"· {roughly}" if answer.value >= 1000 else ""
