"""Raw values as words, the same in every format that people read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from archcalc.render.bars import GLYPHS, stacked
from archcalc.report.base import Figure, Flag, Line, Matrix, Quantity, Unit
from archcalc.spec.units import binary_bytes, decimal_bytes, flops, rounded

ROUNDING = 1e-10  # in float64, after a few thousand operations at the most
THOUSAND = 1000
SIMPLE = 12  # the largest denominator that is read at a glance


FLAGS: dict[Flag, tuple[str, str]] = {  # what stands before and behind a name
    "": ("", ""),
    "estimate": ("", " (estimate)"),
    "used": ("", " (used)"),
    "right": ("✓ ", ""),
    "wrong": ("✗ ", ""),
    "corrected": ("→ ", ""),
    "rounded": ("≈ ", ""),
    "unreadable": ("? ", ""),
}


VERDICTS = {"FITS": "✓", "TIGHT": "≈", "CANNOT_SAY": "?", "NOT": "✗"}


def cell(value: Any, unit: Unit) -> str:
    if isinstance(value, Quantity):
        return cell(*value)
    if value is None and unit == "bound":
        return "–"
    return "" if value is None or value == "" else WORDS[unit](value)


def cells(line: Line, units: Sequence[Unit]) -> list[str]:
    """The cells of a line as words, the first with what its flag says."""
    name, *rest = (cell(value, unit) for value, unit in zip(line.cells, units, strict=True))
    before, behind = FLAGS[line.flag]
    return [f"{before}{name}{behind}", *rest]


def label(answer: Figure) -> str:
    """With the character that stands for it in the bars."""
    return answer.label if answer.segment is None else f"{GLYPHS[answer.segment]} {answer.label}"


def _count(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _room(value: int) -> str:
    return binary_bytes(value) if value >= 0 else f"−{binary_bytes(-value)}"


def _fitting(value: tuple[int, str]) -> str:
    """GiB, and the mark of the verdict."""
    size, verdict = value
    return f"{size / 2**30:,.1f} {VERDICTS[verdict]}"


def _share(value: float) -> str:
    return "<0.1 %" if 0 < value < 0.0005 else f"{100 * value:.1f} %"


def _change(value: int) -> str:
    return f"{value:+,}".replace("-", "−") if value else "="


def entries(matrix: Matrix) -> list[list[str]]:
    """Its numbers with four decimals, and 0 where nothing stands."""
    return [[f"{entry:.4f}".replace("-", "−") if entry else "0" for entry in row] for row in matrix.rows]


def aligned(matrix: Matrix) -> list[str]:
    """A row to a line, between bars."""
    texts = entries(matrix)
    wide = max(len(text) for row in texts for text in row)
    return ["  ".join(["│", *(text.rjust(wide) for text in row), "│"]) for row in texts]


def residual(value: float) -> str:
    """Rounding errors differ from machine to machine, so their digits are not printed."""
    if value < ROUNDING:
        return "≈ 0"
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


WORDS: dict[Unit, Callable[[Any], str]] = {
    "name": str,
    "text": str,
    "shape": lambda value: " × ".join(map(str, value)),
    "count": _count,
    "bound": _count,
    "times": lambda value: f"× {value:,}" if value != 1 else "",
    "share": _share,
    "change": _change,
    "ratio": ratio,
    "residual": residual,
    "tolerance": lambda value: f"{value:.2g}",
    "flops": _count,
    "rough": lambda value: rounded(round(value)),
    "rough_flops": lambda value: flops(round(value)),
    "bytes": decimal_bytes,
    "binary": binary_bytes,
    "memory": lambda value: f"{value:,} bytes · {binary_bytes(value)}",
    "room": _room,
    "fitting": _fitting,
    "stack": lambda value: stacked(*value),
    "bandwidth": lambda value: f"{decimal_bytes(value)}/s",
    "tera": lambda value: f"{value / 10**12:,.1f}",
    "speed": lambda value: f"{value / 10**12:,.1f} TFLOP/s",
}
