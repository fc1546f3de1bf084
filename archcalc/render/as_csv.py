r"""CSV: the rows of the JSON record, one line each, for spreadsheets.

CSV has no escapes, so those of `core.visible` stand for what a terminal would obey or what would break a line, and
a backslash for itself is written twice: `a\nb` is a break, `a\\nb` is not.
"""

from __future__ import annotations

import csv
import io
from typing import Any

from archcalc.core.visible import visible
from archcalc.report.base import Report


def render(report: Report, *, width: int) -> str:
    scope = report.scope.columns()
    heads = [*report.heads(), *scope]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(_cell, heads))
    rows = ({**row, **scope} for row in report.flat())
    writer.writerows([_cell(row.get(head)) for head in heads] for row in rows)  # each value under its own head
    return text.getvalue().rstrip("\n")


def _cell(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return " × ".join(str(_cell(item)) for item in value)
    return visible(value.replace("\\", "\\\\")) if isinstance(value, str) else value
