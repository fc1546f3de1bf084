"""What is exact whatever the hardware: parameters, shapes, FLOPs, and the architecture drawn."""

from __future__ import annotations

import copy

from archcalc.analyze.flops.answer import flops
from archcalc.analyze.params import USUAL_DEPTH, ParamsReport
from archcalc.model import Model
from archcalc.render.diagram.svg import render as drawn
from archcalc.report.base import Report
from archcalc.run.options import Options
from archcalc.ui.charts import chart
from archcalc.ui.reading import Answer, Question
from archcalc.ui.records import with_records
from archcalc.ui.settings import SIZES, options
from archcalc.ui.sources import asked_of, loaded
from archcalc.ui.tables import numbered, shown


def exact_answer(question: Question) -> Answer:
    asked, source = options("flops", question.settings), loaded(question.source)
    model, counted = source.model, source.once("params", lambda: source.model.params(explain=True))
    answer = {**copy.deepcopy(source.once("counted", lambda: _counted(question, counted))), **asked_of(model)}
    reports: dict[str, Report] = {"params": counted}
    if model.is_computed:
        reports |= _computed(question, model, asked, answer)
    return with_records(question, answer, reports)


def _counted(question: Question, report: ParamsReport) -> Answer:
    head, (table, *more) = shown(report)
    return {**head, "tables": {"params": table, **numbered("equations", more)}, "charts": chart(question, report)}


def _computed(question: Question, model: Model, asked: Options, answer: Answer) -> dict[str, Report]:
    """Adds what a list of tensors does not tell."""
    sizes = {name: size for name, size in asked.sizes.given().items() if name in SIZES}
    shapes, work = model.shapes(**sizes), flops(model, asked, explain=True, depth=USUAL_DEPTH)
    head, (kinds, layers, *_) = shown(work)
    answer["tables"] |= {"shapes": shown(shapes)[1][0], "kinds": kinds, "flops": layers}
    answer["flops"] = head
    answer["charts"] |= {"diagram": drawn(model.diagram(**sizes), "diagram"), **chart(question, work)}
    return {"shapes": shapes, "flops": work}
