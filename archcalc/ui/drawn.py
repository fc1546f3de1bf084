"""Curves over a size or a field, and everything about a model as one HTML file."""

from __future__ import annotations

import re

from archcalc.analyze.fit.matrix_axes import Typed
from archcalc.analyze.overview import overview
from archcalc.analyze.plot.answer import plotted
from archcalc.ui.command import line
from archcalc.ui.reading import Answer, Question
from archcalc.ui.settings import values
from archcalc.ui.sources import model_of, named
from archcalc.ui.tables import chart, numbered, shown, with_records


def plot_answer(question: Question) -> Answer:
    """Every point is what `memory` and `flops` answer; `x` and `by` are written as on the command line."""
    models = [(named(source), model_of(source)) for source in question.listed("sources")]
    measures, by = question.texts("y") or ["memory"], question.text("by", "") or None
    given, devices = values("plot", question.settings), question.texts("gpus")
    report = plotted(models, question.text("x"), measures, by, devices, options=given)
    head, (points, *more) = shown(report)
    tables = {"points": points, **numbered("more", more)}
    answer = {**head, "tables": tables, "charts": chart(question, report)}
    return with_records(question, answer, {"plot": report})


def report_answer(question: Question) -> Answer:
    """The page that `archcalc report` writes, with the line that would write it."""
    model, given = model_of(question.source), values("report", question.settings)
    typed, gpus = Typed(named(question.source)), question.texts("gpus") or None
    made = overview(model, gpus, given, command=line(question, "report"), typed=typed)
    stem = re.sub(r"\.(ya?ml|json|safetensors|gguf)$", "", named(question.source))
    return {"file": f"{stem or 'model'}.html", "html": made.html()}
