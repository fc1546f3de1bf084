"""What a model needs on each device, part by part, as stacked bars: shares to draw, sizes in one unit, exact bytes.

The unit is that in which the memory of cards is told, so that the parts of a bar can be added up by eye.
"""

from __future__ import annotations

from typing import Any

from archcalc.analyze.fit.report import FitReport
from archcalc.analyze.fit.rows import Row
from archcalc.analyze.fit.verdict import Verdict
from archcalc.core.visible import visible
from archcalc.render.chart.devices import segment_ink

GIB = 2**30
LEAST = 0.005  # GiB that two decimals show


def bars(report: FitReport) -> dict[str, Any]:
    """One for each device, and which of them the answer is about."""
    return {"bars": [_bar(row) for row in report.rows], "about_bar": report.rows.index(_foremost(report.rows))}


def _foremost(rows: tuple[Row, ...]) -> Row:
    """The smallest device on which it fits; where there is none, the one that is nearest to it."""
    fitting = [row for row in rows if row.verdict is Verdict.FITS]
    if fitting:
        return min(fitting, key=lambda row: row.capacity_bytes)
    return max(rows, key=lambda row: row.left_bytes)


def _bar(row: Row) -> dict[str, Any]:
    whole = max(row.capacity_bytes, row.required_bytes)
    parts = [(name, segment_ink(name).name, size) for name, size in row.segments.items() if size]
    if row.left_bytes > 0:
        parts.append(("free", "", row.left_bytes))
    left = "free" if row.left_bytes >= 0 else "too little"
    where = " on each GPU" if row.devices > 1 and not row.parts else ""
    return {
        "gpu": visible(row.gpu),
        "tone": row.verdict.tone,
        "mark": row.verdict.mark,
        "verdict": row.verdict.value,
        "room": f"{gib(abs(row.left_bytes))} {left}",
        "memory": f"{gib(row.capacity_bytes)}{where}",
        "needed": gib(row.required_bytes),
        "limit": row.capacity_bytes / whole,
        "parts": [
            {"name": name, "ink": ink, "size": gib(size), "exact": f"{size:,} bytes", "share": size / whole}
            for name, ink, size in parts
        ],
    }


def gib(size: int) -> str:
    return f"{size / GIB:,.2f} GiB" if size / GIB >= LEAST else "< 0.01 GiB"
