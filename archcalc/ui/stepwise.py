"""The walk through a model, one step at a time: its picture, and the table of all steps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from archcalc.core.errors import InputError
from archcalc.ui.reading import Answer, Question
from archcalc.ui.settings import sizes
from archcalc.ui.sources import model_of
from archcalc.ui.tables import chart, shown, with_records


def walk_answer(question: Question) -> Answer:
    """`step` is a number; beyond the last one it is the last one, as another model may have fewer."""
    given: dict[str, Any] = {**sizes(question.settings)}
    report = model_of(question.source).walk(**given)
    wanted = question.asked.get("step", 1)
    if not isinstance(wanted, int) or isinstance(wanted, bool) or wanted < 1:
        raise InputError("expected the number of a step", field="step")
    row = report.rows[min(wanted, len(report.rows)) - 1]
    head, (steps, *_) = shown(report)
    drawn = chart(question, replace(report, rows=(row,)))
    counted = {"step": row.number, "steps": len(report.rows), "working": list(row.workings())}
    return with_records(question, {**head, **counted, "tables": {"steps": steps}, "charts": drawn}, {"walk": report})
