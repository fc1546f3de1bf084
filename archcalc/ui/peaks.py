"""Memory on each GPU, and the devices that have enough of it."""

from __future__ import annotations

from dataclasses import replace

from archcalc.analyze.fit.answer import fitted
from archcalc.analyze.fit.uses import same_use
from archcalc.analyze.memory.answer import memory
from archcalc.core.visible import visible
from archcalc.run.choice import Reason
from archcalc.ui.bars import bars
from archcalc.ui.reading import Answer, Question
from archcalc.ui.settings import on_card, options, setting_of
from archcalc.ui.sources import model_of
from archcalc.ui.tables import chart, numbered, shown, with_records


def memory_answer(question: Question) -> Answer:
    asked, model = options("memory", on_card(question)), model_of(question.source)
    report = memory(model, asked)
    head, (parts, *host, layers) = shown(report)
    steps = shown(replace(report, timeline=True))[1][-1]
    tables = {"parts": parts, "layers": layers, "timeline": steps, **numbered("host", host)}
    # what the run has where nothing was asked for, by the names of options: what an empty field stands for
    usual = {setting_of(each.name): str(each.value) for each in report.choices if each.reason is not Reason.ASKED}
    answer = {**head, "tables": tables, "charts": chart(question, report), "usual": usual}
    answer["clauses"] = [*map(visible, report.in_short())]
    return with_records(question, answer, {"memory": report})


def fit_answer(question: Question) -> Answer:
    """Verdicts; with `helps` also what is searched for: how far a model can grow on each device, what would help. With
    `cards` alone of that the smallest cards, which end the sentence that heads every answer."""
    asked, model = options("fit", question.settings), model_of(question.source)
    report = fitted(model, question.texts("gpus") or None, asked, verdicts_alone=not question.flag("helps", True))
    if question.flag("cards", False):
        report = replace(report, uses=tuple(same_use(model, asked)))
    head, listed = shown(report)
    devices = {"devices": listed.pop(0)} if len(report.rows) > 1 else {}  # of a single one all is said in sentences
    for table in devices.values():
        for line, row in zip(table["rows"], report.rows, strict=True):
            line["tone"] = row.verdict.tone
    helps = [one for one in report.remedies if one.changes == 1]  # which stand in the last table
    for line, remedy in zip(listed[-1]["rows"] if helps else [], helps, strict=True):
        line["settings"] = remedy.change.settings()
    tables = {**devices, **numbered("more", listed)}
    said = {"clauses": [*map(visible, report.clauses())], **bars(report)}
    answer = {**head, **said, "tables": tables, "charts": chart(question, report)}
    return with_records(question, answer, {"fit": report})
