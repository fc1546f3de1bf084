"""Files of answers as students hand them in: all right but for a few."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import archcalc
from archcalc.exercises.answers import read, written
from archcalc.exercises.report import CheckReport, check
from archcalc.exercises.sheet import Sheet, worksheet
from archcalc.spec import yaml_reader

if TYPE_CHECKING:
    from archcalc.exercises.marking import Mark


def sheet_of(model: str, *questions: str, seed: int | None = None) -> Sheet:
    name, _, changes = model.partition(":")
    return worksheet(archcalc.load(name, set=changes.split(",") if changes else ()), seed=seed, questions=questions)


def with_answers(sheet: Sheet, changed: dict[str, object]) -> str:
    """The file with the key's answers, and others in the blanks of these numbers or names."""
    lines = []
    by_line = {f"# {blank.number} {blank.label}": blank for blank in sheet.blanks}
    for line in written(sheet, solved=True).splitlines():
        blank = by_line.get("# " + line.partition("  # ")[2])
        if blank and {blank.number, blank.name} & set(changed):
            value = changed.get(blank.number, changed.get(blank.name))
            line = f"    {json.dumps(blank.name)}: {'' if value is None else value}"
        lines.append(line)
    return "\n".join(lines)


def handed_in(model: str, question: str, changed: dict[str, object]) -> CheckReport:
    text = with_answers(sheet_of(model, question), changed)
    return check(read(yaml_reader.read(text.encode(), "ANSWERS.yaml")))


def mark_of(model: str, question: str, blank: str, answer: object) -> Mark:
    """How one answer is marked where all others are right."""
    marks = handed_in(model, question, {blank: answer}).marks
    return next(mark for mark in marks if blank in (mark.blank.number, mark.blank.name))
