"""CSV: the rows of the JSON record, one line each, for spreadsheets."""

from __future__ import annotations

import csv
import io
from typing import Any

from archcalc.report import Report


def render(report: Report, *, width: int) -> str:
    rows = report.flat()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(rows[0] if rows else [])
    writer.writerows([_cell(value) for value in row.values()] for row in rows)
    return text.getvalue().rstrip("\n")


def _cell(value: Any) -> Any:
    return " × ".join(map(str, value)) if isinstance(value, list | tuple) else value
