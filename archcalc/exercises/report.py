"""The report of `archcalc check`: every answer, whether it is right, and where the first mistake is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, ClassVar

from archcalc.core.assumptions import Assumption, Topic
from archcalc.exercises.answers import Filled
from archcalc.exercises.marking import Mark, Standing, marked
from archcalc.exercises.sheet import TASKS
from archcalc.report.base import SCHEMA_VERSION, Column, Flag, Line, Report, Table, Tone

FLAGS: dict[Standing, Flag] = {
    Standing.RIGHT: "right",
    Standing.FOLLOWS: "corrected",
    Standing.WRONG: "wrong",
    Standing.OPEN: "",
}
TONES: dict[Standing, Tone] = {
    Standing.RIGHT: "good",
    Standing.FOLLOWS: "fair",
    Standing.WRONG: "bad",
    Standing.OPEN: "",
}
LEGEND = Assumption(Topic.TABLE, "✓ right; ✗ wrong; → a right step from a wrong answer, which counts as wrong")


@dataclass(frozen=True)
class CheckReport(Report):
    """One student's answers, marked."""

    command: ClassVar[str] = "check"
    student: str
    seed: int | None
    marks: tuple[Mark, ...]

    @property
    def all_right(self) -> bool:
        return all(mark.standing is Standing.RIGHT for mark in self.marks)

    @property
    def counts(self) -> dict[str, int]:
        found = Counter(mark.standing for mark in self.marks)
        return {str(standing): found[standing] for standing in Standing}

    @property
    def first_mistake(self) -> Mark | None:
        return next((mark for mark in self.marks if mark.standing is Standing.WRONG), None)

    def title(self) -> str:
        return " · ".join(part for part in (self.model, self.student) if part)

    def answer(self) -> str:
        counts = self.counts
        told = [f"{counts['right']} of {len(self.marks)} right"]
        told += [f"{counts['follows']} right given a wrong answer"] if counts["follows"] else []
        told += [f"{counts['wrong']} wrong"] if counts["wrong"] else []
        told += [f"{counts['open']} not answered"] if counts["open"] else []
        return " · ".join(told)

    def beneath(self) -> Sequence[str]:
        first = self.first_mistake
        return [f"first mistake: {first.blank.number}, {first.blank.label}: {first.remark}"] if first else []

    def table(self) -> Table:
        columns = (Column("blank", "name"), Column("answer", "count"))
        return Table(columns, tuple(self._lines()))

    def _lines(self) -> Iterator[Line]:
        for question, marks in groupby(self.marks, key=lambda mark: mark.blank.question):
            yield Line((TASKS[question][0], ""), heading=True)
            yield from (_line(mark) for mark in marks)

    def record(self) -> dict[str, Any]:
        return {
            "schema_version": SCHEMA_VERSION,
            "model": self.model,
            "student": self.student,
            "seed": self.seed,
            **self.counts,
            "total": len(self.marks),
            "first_mistake": self.first_mistake.blank.name if self.first_mistake else None,
            "assumptions": self.assumed(),
            "rows": [_row(mark) for mark in self.marks],
        }


def _line(mark: Mark) -> Line:
    label = f"{mark.blank.number} {mark.blank.label}"
    notes = (mark.remark,) if mark.remark else ()
    return Line((label, mark.said or "–"), 1, flag=FLAGS[mark.standing], tone=TONES[mark.standing], notes=notes)


def _row(mark: Mark) -> dict[str, Any]:
    blank = mark.blank
    expected = blank.answer if isinstance(blank.answer, int) else list(blank.answer)
    named = {"question": blank.question, "number": blank.number, "name": blank.name, "label": blank.label}
    found = {"answer": mark.said, "standing": str(mark.standing), "mistake": mark.mistake, "remark": mark.remark}
    return {**named, **found, "expected": expected}


def check(filled: Filled) -> CheckReport:
    """Mark a file of answers."""
    model = filled.sheet.model
    return CheckReport(
        model=model.name,
        assumptions=(LEGEND,),
        scope=model.scope,
        student=filled.student,
        seed=filled.sheet.seed,
        marks=marked(filled),
    )
