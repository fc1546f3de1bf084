"""Files of answers as students hand them in: all right but for a few."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import archcalc
from archcalc.exercises.answers import document, read, written
from archcalc.exercises.report import CheckReport, check
from archcalc.exercises.sheet import Sheet, worksheet

if TYPE_CHECKING:
    from archcalc.exercises.marking import Mark


CONVOLUTIONS: dict[str, Any] = {
    "family": "network",
    "input": [3, 32, 32],
    "batch": 8,
    "layers": [
        {"conv": 16, "kernel": 3, "stride": 2, "padding": 1},
        "relu",
        {"conv": 32, "kernel": 3, "padding": 2, "dilation": 2, "groups": 4},
        "relu",
        {"pool": "average", "to": 1},
        "flatten",
        {"linear": 10},
    ],
}
SPECS = {"convolutions": CONVOLUTIONS}  # besides presets


def sheet_of(model: str, *questions: str, seed: int | None = None) -> Sheet:
    """Of a preset, with changes behind a colon, or of a spec from here."""
    name, _, changes = model.partition(":")
    loaded = archcalc.load(SPECS.get(name, name), set=changes.split(",") if changes else ())
    return worksheet(loaded, seed=seed, questions=questions)


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
    return check(read(document(text.encode(), "ANSWERS.yaml")))


def mark_of(model: str, question: str, blank: str, answer: object) -> Mark:
    """How one answer is marked where all others are right."""
    marks = handed_in(model, question, {blank: answer}).marks
    return next(mark for mark in marks if blank in (mark.blank.number, mark.blank.name))
