"""What is exact whatever the hardware: parameters, shapes, FLOPs, the architecture drawn; and models side by side."""

from __future__ import annotations

import copy
from typing import Any

from archcalc.analyze.compare.answer import compare
from archcalc.analyze.flops.answer import flops
from archcalc.analyze.params import USUAL_DEPTH, ParamsReport
from archcalc.render.diagram.svg import render as drawn
from archcalc.report.base import Report
from archcalc.ui.reading import Answer, Question
from archcalc.ui.settings import SIZES, options, sizes
from archcalc.ui.sources import asked_of, loaded, model_of, named
from archcalc.ui.tables import chart, numbered, shown, with_records


def exact_answer(question: Question) -> Answer:
    asked, source = options("flops", question.settings), loaded(question.source)
    model, counted = source.model, source.once("params", lambda: source.model.params(explain=True))
    answer = {**copy.deepcopy(source.once("counted", lambda: _counted(question, counted))), **asked_of(model)}
    reports: dict[str, Report] = {"params": counted}
    if model.spec.is_computed:  # which a list of tensors is not
        given = {name: size for name, size in asked.sizes.given().items() if name in SIZES}
        shapes, work = model.shapes(**given), flops(model, asked, explain=True, depth=USUAL_DEPTH)
        head, (kinds, layers, *_) = shown(work)
        answer["tables"] |= {"shapes": shown(shapes)[1][0], "kinds": kinds, "flops": layers}
        answer["flops"] = head
        answer["charts"] |= {"diagram": drawn(model.diagram(**given), "diagram"), **chart(question, work)}
        reports |= {"shapes": shapes, "flops": work}
    return with_records(question, answer, reports)


def _counted(question: Question, report: ParamsReport) -> Answer:
    head, (table, *more) = shown(report)
    return {**head, "tables": {"params": table, **numbered("equations", more)}, "charts": chart(question, report)}


def compare_answer(question: Question) -> Answer:
    metric, sources = question.text("metric", "params"), question.listed("sources")
    given: dict[str, Any] = {**sizes(question.settings)}
    models = [model_of(source) for source in sources]
    labelled = [(named(source), model) for source, model in zip(sources, models, strict=True)]
    report = compare(labelled, metric=metric, **given)
    head, (table, *_) = shown(report)
    return with_records(question, {**head, "tables": {"compare": table}}, {"compare": report})
