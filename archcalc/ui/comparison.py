"""Models side by side."""

from __future__ import annotations

from archcalc.analyze.compare.answer import compare
from archcalc.core.errors import InputError
from archcalc.ui.reading import Answer, Question
from archcalc.ui.records import with_records
from archcalc.ui.settings import sizes
from archcalc.ui.sources import model_of, named
from archcalc.ui.tables import shown


def compare_answer(question: Question) -> Answer:
    metric, sources = question.text("metric", "params"), question.listed("sources")
    given = sizes(question.settings)
    if given and metric == "params":
        raise InputError("has no effect on parameter counts", "compare FLOPs or memory", field=f"--{min(given)}")
    models = [model_of(source) for source in sources]
    labelled = [(named(source), model) for source, model in zip(sources, models, strict=True)]
    report = compare(labelled, metric=metric, sizes=given)
    head, (table, *_) = shown(report)
    return with_records(question, {**head, "tables": {"compare": table}}, {"compare": report})
