r"""CSV: the rows of the JSON record, one line each, for spreadsheets.

CSV has no escapes, so those of `core.visible` stand for what a terminal would obey or what would break a line, and
a backslash for itself is written twice: `a\nb` is a break, `a\\nb` is not. A text that a spreadsheet would compute,
`=1+1` or `@name`, has an apostrophe before it, as OWASP advises; numbers have none.
"""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

from archcalc.core.visible import visible
from archcalc.report.base import Report

# At the start of a cell, or where a spreadsheet that separates by semicolons begins one; also in the wide forms of CJK.
_COMPUTED = re.compile(r"(?:^|(?<=;))(?='*[=+\-@＝＋－＠])")
_NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?", re.IGNORECASE)


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
    if isinstance(value, list | tuple) and not any(isinstance(item, dict) for item in value):
        return _text(" × ".join(str(item) for item in value))
    if isinstance(value, list | tuple | dict):
        return _text(json.dumps(value, ensure_ascii=False))
    return _text(value) if isinstance(value, str) else value


def _text(text: str) -> str:
    shown = visible(text.replace("\\", "\\\\"))
    return shown if _NUMBER.fullmatch(shown) else _COMPUTED.sub("'", shown)
