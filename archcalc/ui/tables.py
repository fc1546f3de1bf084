"""Reports as the page shows them: tables, archcalc's own drawings, and the JSON that `--format json` prints.

Every number is text already, as a terminal shows it, and every text is escaped for one. A number of a script has 53
bits, which parameters and FLOPs exceed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from archcalc.core.errors import InputError
from archcalc.render import as_json
from archcalc.render.html.charts import ZOOMED, drawn
from archcalc.render.page import Grid, aligned, page
from archcalc.report.base import Report
from archcalc.report.table import Matrix
from archcalc.ui.reading import Answer, Question

NARROWEST, WIDEST = 280, 1200  # pixels of a chart


def shown(report: Report) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What stands above the tables, and the tables in their order."""
    laid_out = page(report)
    figures: list[dict[str, Any]] = [
        {"label": one.label, "value": one.human, "about": one.digits, "note": one.note, "segment": one.segment}
        for one in laid_out.figures
    ]
    first = {} if laid_out.answer or not figures else figures.pop(0)
    answer = list(laid_out.answer) or [f"{first.get('value', '')} {first.get('label', '')}".strip()]
    head = {
        "title": laid_out.title,
        "answer": answer[0],
        "about": first.get("about", ""),
        "beneath": [*answer[1:], *([laid_out.scope] if laid_out.scope else [])],
        "figures": figures,
        "notes": [{"text": one.text, "option": one.option} for one in laid_out.notes],
    }
    return head, [_table(one) for one in laid_out.tables]


def numbered(name: str, tables: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """`more`, `more_2`, …"""
    return {f"{name}_{place}" if place > 1 else name: one for place, one in enumerate(tables, start=1)}


def chart(question: Question, report: Report) -> dict[str, str]:
    """The drawing of a report by its name, as wide as the page wants it; ids begin with the name."""
    wide = question.asked.get("wide")
    if wide is None or report.chart == ZOOMED:
        return {report.chart: drawn(report).svg(report.chart)}
    if isinstance(wide, bool) or not isinstance(wide, int | float) or not NARROWEST <= wide <= WIDEST:
        raise InputError(f"expected a width from {NARROWEST} to {WIDEST} pixels", field="wide")
    return {report.chart: drawn(report, float(wide)).svg(report.chart)}


def with_records(question: Question, answer: Answer, reports: Mapping[str, Report]) -> Answer:
    """The answer, with its records where they are asked for; as text, since scripts would round their numbers."""
    if not question.flag("records", False):
        return answer
    return {**answer, "records": {name: as_json.render(report, width=80) for name, report in reports.items()}}


def _table(table: Grid) -> dict[str, Any]:
    """Without the bars of a terminal, in whose place the page has a chart."""
    kept = [i for i, column in enumerate(table.columns) if column.unit != "stack"]
    sides = {True: "left", False: "right"}
    columns, rows = [table.columns[i] for i in kept], []
    for line, texts in zip(table.lines, table.texts, strict=True):
        told = ([f"{one.name}:", *aligned(one)] if isinstance(one, Matrix) else [one] for one in line.notes)
        said = {"depth": line.depth, "below": line.below, "heading": line.heading, "tone": line.tone}
        rows.append(
            {"cells": [texts[i].strip() for i in kept], **said, "notes": [text for one in told for text in one]}
        )
    return {
        "columns": [{"label": one.label, "side": sides[one.left], "unit": one.unit} for one in columns],
        "rows": rows,
    }
