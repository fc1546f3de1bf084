"""An answer short enough to be read by an assistant: the sentence, the few figures, what decides, and some rows.

Numbers of figures are text, as programs in JavaScript would round them beyond 2⁵³.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import accumulate
from typing import Any

from archcalc.core.assumptions import ranked
from archcalc.render import render
from archcalc.render.page import page
from archcalc.render.style import UNSTYLED
from archcalc.report.base import Report

WIDTH = 100  # columns
FIRST, LAST = 44, 12  # lines of a long answer: what it says, and what that rests on
MOST_CHARACTERS = 6_000  # of all rows together
TEXTS = {"type": "array", "items": {"type": "object", "additionalProperties": {"type": ["string", "integer", "null"]}}}
SCHEMA = {  # of `structured`
    "type": "object",
    "properties": {
        "title": {"type": "string", "description": "The model, and what was asked of it."},
        "summary": {"type": "string", "description": "The answer in a sentence."},
        "figures": {**TEXTS, "description": "What it consists of: label, value, exact (all digits), note."},
        "assumptions": {**TEXTS, "description": "What it rests on: topic, value, option (which changes it), text."},
        "rows": {"type": "array", "items": {"type": "object"}, "description": "The first of its table."},
        "left_out": {"type": "object", "additionalProperties": {"type": "integer"}},
    },
    "required": ["title", "summary", "figures", "assumptions", "rows", "left_out"],
}


def in_words(report: Report, *, notes: bool) -> str:
    """As a terminal shows it; of a long one the middle is left out."""
    text = render(report, "table", width=WIDTH, notes=notes).translate(UNSTYLED)
    lines = text.splitlines()
    left = len(lines) - FIRST - LAST
    if left > 0:
        lines[FIRST:-LAST] = [f"… {left:,} lines left out"]
    return "\n".join(lines)


def structured(report: Report, *, notes: bool) -> dict[str, Any]:
    shown, every, record = page(report), report.assumptions, json.loads(render(report, "json"))
    assumptions = ranked(every, len(every) if notes else report.notes_at_first).first
    rows = _so_many(record["rows"])
    return {
        "title": shown.title,
        "summary": "; ".join(shown.headline),
        "figures": [
            {"label": one.label, "value": one.human, "exact": one.digits or one.human, "note": one.note}
            for one in shown.figures
        ],
        "assumptions": [each.record() for each in assumptions],
        "rows": rows,
        "left_out": {
            "assumptions": len(every) - len(assumptions),
            "rows": len(record["rows"]) - len(rows),
        },
    }


def _so_many(rows: Iterable[Any]) -> list[Any]:
    """Those that come first, and no more than are read."""
    listed = list(rows)
    lengths = accumulate(len(json.dumps(row)) for row in listed)
    return [row for row, length in zip(listed, lengths, strict=True) if length <= MOST_CHARACTERS]
