"""Models side by side."""

from __future__ import annotations

from typing import Any

from archcalc.analyze.compare.answer import compare
from archcalc.ui.reading import Answer, Question
from archcalc.ui.records import with_records
from archcalc.ui.settings import sizes
from archcalc.ui.sources import model_of, named
from archcalc.ui.tables import shown


def compare_answer(question: Question) -> Answer:
    metric, sources = question.text("metric", "params"), question.listed("sources")
    given: dict[str, Any] = {**sizes(question.settings)}
    models = [model_of(source) for source in sources]
    labelled = [(named(source), model) for source, model in zip(sources, models, strict=True)]
    report = compare(labelled, metric=metric, **given)
    head, (table, *_) = shown(report)
    return with_records(question, {**head, "tables": {"compare": table}}, {"compare": report})
