"""Memory over a step, op by op, for the scrubber that the page shares with reports."""

from __future__ import annotations

from archcalc.analyze.memory.answer import memory
from archcalc.render.html.scrubber import data, has_ops
from archcalc.render.inks import SERIES, variables
from archcalc.ui.reading import Answer, Question
from archcalc.ui.settings import options
from archcalc.ui.sources import model_of
from archcalc.ui.tables import shown


def timeline_answer(question: Question) -> Answer:
    """`timeline` is what the script draws, with every combination of its switches; null where nothing is computed."""
    report = memory(model_of(question.source), options("memory", question.settings), timeline=True)
    head, _ = shown(report)
    return {**head, "timeline": data(report) if has_ops(report) else None, "style": variables(SERIES)}
