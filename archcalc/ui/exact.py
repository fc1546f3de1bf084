"""What is exact whatever the hardware: parameters, shapes, FLOPs, the architecture drawn; and models side by side."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

from archcalc.analyze.compare.answer import compare
from archcalc.analyze.flops.answer import amounts, flops
from archcalc.analyze.flops.report import in_short
from archcalc.analyze.params import USUAL_DEPTH, ParamsReport
from archcalc.core.errors import InputError, did_you_mean
from archcalc.model import Model
from archcalc.render.diagram.svg import render as drawn
from archcalc.report.base import Report
from archcalc.run.options import Options
from archcalc.ui.reading import Answer, Question
from archcalc.ui.settings import SIZES, options, sizes
from archcalc.ui.sources import Loaded, asked_of, loaded, model_of, named
from archcalc.ui.tables import chart, numbered, shown, with_records


def exact_answer(question: Question) -> Answer:
    """Parameters at once, since they follow every key; of FLOPs, tables and drawings the parts that are to be shown."""
    asked, source = options("flops", question.settings), loaded(question.source)
    model, counted = source.model, source.once("params", lambda: source.model.params(explain=True))
    head = source.once("figures", lambda: _figures(model, counted))
    answer: Answer = {**copy.deepcopy(head), "tables": {}, "charts": {}}
    reports: dict[str, Report] = {"params": counted}
    for part in question.texts("show") if "show" in question.asked else PARTS:
        if part not in PARTS:
            raise InputError(f"no part is called {part}", did_you_mean(part, PARTS), field="show")
        if part == "params" or model.spec.is_computed:
            PARTS[part](Exact(question, asked, source, counted), answer, reports)
    return with_records(question, answer, reports)


def _figures(model: Model, counted: ParamsReport) -> Answer:
    return {**shown(counted)[0], **asked_of(model), "parameters": f"{int(counted.total):,}"}


class Exact(NamedTuple):
    """What is asked about."""

    question: Question
    asked: Options
    source: Loaded
    counted: ParamsReport

    @property
    def sizes(self) -> dict[str, Any]:
        """Batch and lengths, which are all that shapes depend on."""
        return {name: size for name, size in self.asked.sizes.given().items() if name in SIZES}


def _params(of: Exact, answer: Answer, reports: dict[str, Report]) -> None:
    table, *more = of.source.once("tables", lambda: shown(of.counted)[1])
    answer["tables"] |= {"params": table, **numbered("equations", more)}
    answer["charts"] |= chart(of.question, of.counted)


def _shapes(of: Exact, answer: Answer, reports: dict[str, Report]) -> None:
    reports["shapes"] = report = of.source.model.shapes(**of.sizes)
    answer["tables"]["shapes"] = shown(report)[1][0]


def _work(of: Exact, answer: Answer, reports: dict[str, Report]) -> None:
    """FLOPs in a sentence, without the parts of the model."""
    made = amounts(of.source.model, of.asked)[0]
    answer["flops"] = {"clauses": [*in_short(made, trains=of.asked.trains, gpus=of.asked.plan.gpus)]}


def _flops(of: Exact, answer: Answer, reports: dict[str, Report]) -> None:
    reports["flops"] = report = flops(of.source.model, of.asked, explain=True, depth=USUAL_DEPTH)
    head, (kinds, layers, *_) = shown(report)
    answer["flops"] = {**answer.get("flops", {}), **head}
    answer["tables"] |= {"kinds": kinds, "flops": layers}
    answer["charts"] |= chart(of.question, report)


def _diagram(of: Exact, answer: Answer, reports: dict[str, Report]) -> None:
    answer["charts"]["diagram"] = drawn(of.source.model.diagram(**of.sizes), "diagram")


PARTS: dict[str, Callable[[Exact, Answer, dict[str, Report]], None]] = {
    "params": _params,
    "shapes": _shapes,
    "work": _work,
    "flops": _flops,
    "diagram": _diagram,
}


def compare_answer(question: Question) -> Answer:
    metric, sources = question.text("metric", "params"), question.listed("sources")
    given: dict[str, Any] = {**sizes(question.settings)}
    models = [model_of(source) for source in sources]
    labelled = [(named(source), model) for source, model in zip(sources, models, strict=True)]
    report = compare(labelled, metric=metric, **given)
    head, (table, *_) = shown(report)
    return with_records(question, {**head, "tables": {"compare": table}}, {"compare": report})
