"""Reports for programs: the JSON that `--format json` prints, as text, since scripts would round its numbers."""

from __future__ import annotations

from collections.abc import Mapping

from archcalc.render.as_json import render
from archcalc.report.base import Report
from archcalc.ui.reading import Answer, Question


def with_records(question: Question, answer: Answer, reports: Mapping[str, Report]) -> Answer:
    """The answer, with its records where they are asked for."""
    if not question.flag("records", False):
        return answer
    return {**answer, "records": {name: render(report, width=80) for name, report in reports.items()}}
