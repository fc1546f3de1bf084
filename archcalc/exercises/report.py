"""The report of `archcalc check`: every answer, whether it is right, and where the first mistake is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, ClassVar, NamedTuple

from archcalc.core.assumptions import Assumption, Topic
from archcalc.exercises.answers import Filled
from archcalc.exercises.explaining import Explanations
from archcalc.exercises.language import SOURCE, language
from archcalc.exercises.marking import Mark, Standing, marked
from archcalc.report.base import Report
from archcalc.report.table import Column, Flag, Line, Table, cells_of, heading, in_tables, keys, records_of
from archcalc.report.units import Tone


class Shown(NamedTuple):
    """How an answer of a standing is marked: the flag and tone of its line, its name in a count, the legend's words."""

    flag: Flag
    tone: Tone
    counted: str
    legend: str = ""
    always: bool = False  # in the legend, even if there are none


SHOWN: dict[Standing, Shown] = {  # in the order of the legend
    Standing.RIGHT: Shown("right", "good", "", "✓ right", always=True),
    Standing.WRONG: Shown("wrong", "bad", "wrong", "✗ wrong", always=True),
    Standing.FOLLOWS: Shown(
        "corrected",
        "fair",
        "right given a wrong answer",
        "→ a right step from a wrong answer, which counts as wrong",
        always=True,
    ),
    Standing.ROUNDED: Shown("rounded", "fair", "rounded", "≈ right to the digits given, which counts as not exact"),
    Standing.UNREADABLE: Shown("unreadable", "bad", "not readable", "? cannot be read"),
    Standing.OPEN: Shown("", "", "not answered"),
}
LONGEST = 40  # characters of an answer in the table


@dataclass(frozen=True)
class CheckReport(Report):
    """One student's answers, marked."""

    command: ClassVar[str] = "check"
    student: str
    seed: int | None
    marks: tuple[Mark, ...]
    strays: tuple[str, ...] = ()  # among the answers, and on no line of the sheet
    changed: str = ""  # how the file's model differs from the one that was given out

    @property
    def all_right(self) -> bool:
        return not self.changed and all(mark.standing is Standing.RIGHT for mark in self.marks)

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
        told += [f"{counts[one]} {SHOWN[one].counted}" for one in Standing if one is not Standing.RIGHT and counts[one]]
        return " · ".join(told)

    def beneath(self) -> Sequence[str]:
        first = self.first_mistake
        changed = [f"not the sheet: {self.changed}"] if self.changed else []
        mistake = [f"first mistake: {first.blank.number}, {first.blank.label}: {first.remark}"] if first else []
        return [*changed, *mistake, *self.strays]

    def table(self) -> Table:
        columns, lines = in_tables(COLUMNS), []
        for question, marks in groupby(self.marks, key=lambda mark: mark.blank.question):
            lines.append(heading(language(SOURCE).title(question), columns))
            for mark in marks:
                shown, notes = SHOWN[mark.standing], tuple(filter(None, (mark.remark,)))
                lines.append(Line(cells_of(columns, mark), 1, flag=shown.flag, tone=shown.tone, notes=notes))
        return Table(columns, tuple(lines))

    def facts(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "student": self.student,
            "seed": self.seed,
            **self.counts,
            "total": len(self.marks),
            "changed": self.changed,
            "strays": list(self.strays),
            "first_mistake": self.first_mistake.blank.name if self.first_mistake else None,
        }

    def records(self) -> list[dict[str, Any]]:
        return records_of(COLUMNS, self.marks)


def _shortened(said: str) -> str:
    return said if len(said) <= LONGEST else f"{said[: LONGEST - 1]}…"


def _expected(mark: Mark) -> int | list[int]:
    answer = mark.blank.answer
    return answer if isinstance(answer, int) else list(answer)


COLUMNS: tuple[Column[Mark], ...] = (
    Column("question", get="blank.question"),
    Column("number", get="blank.number"),
    Column("name", get="blank.name"),
    Column("label", get="blank.label"),
    Column("", "blank", "name", lambda mark: f"{mark.blank.number} {mark.blank.label}"),
    Column("answer", get="said"),
    Column("", "answer", "count", lambda mark: _shortened(mark.said) or "–"),
    Column("standing", get=lambda mark: str(mark.standing)),
    *keys("mistake", "remark"),
    Column("expected", get=_expected),
)


def check(filled: Filled, explanations: Explanations | None = None) -> CheckReport:
    """Mark a file of answers; `explanations` may be those of another file with the same sheet."""
    model, marks = filled.sheet.model, marked(filled, explanations)
    return CheckReport(
        model=model.name,
        assumptions=(legend([marks]),),
        scope=model.scope,
        student=filled.student,
        seed=filled.sheet.seed,
        marks=marks,
        strays=filled.strays,
        changed=filled.changed,
    )


def legend(files: Iterable[Sequence[Mark]]) -> Assumption:
    """What the signs mean that stand before answers."""
    met = {mark.standing for marks in files for mark in marks}
    told = [shown.legend for one, shown in SHOWN.items() if shown.legend and (shown.always or one in met)]
    return Assumption(Topic.TABLE, "; ".join(told))
