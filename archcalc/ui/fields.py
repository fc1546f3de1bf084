"""What fits over two choices: a field of cells, with the sizes up to which each fits and its command."""

from __future__ import annotations

import json

from archcalc.analyze.fit.matrix import matrix
from archcalc.analyze.fit.matrix_axes import Typed
from archcalc.render.html.charts import cells
from archcalc.ui.reading import Answer, Question
from archcalc.ui.settings import options
from archcalc.ui.sources import model_of, named
from archcalc.ui.tables import chart, shown, with_records


def matrix_answer(question: Question) -> Answer:
    """Of the devices that are chosen, or of usual ones; `table` names two axes as `archcalc fit --table` takes them."""
    asked, model = options("fit", question.settings), model_of(question.source)
    typed = [(Typed(named(question.source)), model)]
    report = matrix(typed, question.texts("gpus"), asked, question.text("table"), question.text("cell", ""))
    head, (table, *_) = shown(report)
    answer = {
        **head,
        "tables": {"matrix": table},
        "charts": chart(question, report),
        "cells": json.dumps(cells(report)),
    }
    return with_records(question, answer, {"matrix": report})
