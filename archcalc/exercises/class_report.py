"""A folder of answers, marked: a row for every file, and how often each mistake was made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from archcalc.exercises.marking import Mark, Standing
from archcalc.exercises.report import CheckReport
from archcalc.report.base import SCHEMA_VERSION, Column, Line, Report, Table

HEADS = {Standing.RIGHT: "right", Standing.ROUNDED: "≈", Standing.FOLLOWS: "→", Standing.WRONG: "wrong"}
HEADS |= {Standing.UNREADABLE: "?", Standing.OPEN: "open"}
UNNAMED = "no mistake that is known"


class HandedIn(NamedTuple):
    """One file: its report, or what is wrong with the file."""

    file: str
    report: CheckReport | None
    trouble: str = ""

    @property
    def name(self) -> str:
        """Files are often all called the same, and then the student's own folder tells."""
        said = self.report.student if self.report else ""
        return f"{self.file} ({said})" if said and said != self.file else self.file

    @property
    def marks(self) -> Sequence[Mark]:
        return self.report.marks if self.report else ()

    @property
    def remarks(self) -> tuple[str, ...]:
        changed = f"not the sheet: {self.report.changed}" if self.report and self.report.changed else ""
        strays = self.report.strays if self.report else ()
        return tuple(remark for remark in (changed, *strays, self.trouble) if remark)

    def record(self) -> dict[str, Any]:
        counts = self.report.counts if self.report else dict.fromkeys(map(str, Standing), 0)
        return {
            "file": self.file,
            "student": getattr(self.report, "student", ""),
            **counts,
            "total": len(self.marks),
            **self._first_mistake(),
            "changed": getattr(self.report, "changed", ""),
            "trouble": self.trouble,
        }

    def _first_mistake(self) -> dict[str, str]:
        first = self.report.first_mistake if self.report else None
        return {"first_mistake": first.blank.name, "mistake": first.mistake} if first else _NO_MISTAKE


_NO_MISTAKE = {"first_mistake": "", "mistake": ""}


class Made(NamedTuple):
    """A mistake: in how many answers, and in how many files."""

    name: str
    answers: int
    files: int
    example: str


@dataclass(frozen=True)
class ClassReport(Report):
    """A class, marked."""

    command: ClassVar[str] = "check"
    files: tuple[HandedIn, ...]

    @property
    def all_right(self) -> bool:
        return all(one.report is not None and one.report.all_right for one in self.files)

    @property
    def mistakes(self) -> list[Made]:
        """The commonest first; wrong answers that none explains come last."""
        wrong = [(one.file, mark) for one in self.files for mark in one.marks if mark.standing is Standing.WRONG]
        often = Counter(mark.mistake for _, mark in wrong)
        made = []
        for name, answers in sorted(often.items(), key=lambda item: (not item[0], -item[1], item[0])):
            found = [(file, mark) for file, mark in wrong if mark.mistake == name]
            example = f"{found[0][1].blank.number} of {found[0][0]}: {found[0][1].remark}"
            made.append(Made(name or UNNAMED, answers, len({file for file, _ in found}), example))
        return made

    def title(self) -> str:
        return self.model

    def answer(self) -> str:
        right = sum(one.report is not None and one.report.all_right for one in self.files)
        broken = sum(one.report is None for one in self.files)
        changed = sum(one.report is not None and bool(one.report.changed) for one in self.files)
        told = [f"{len(self.files):,} files", f"{right} all right"]
        told += [f"{changed} with another model"] if changed else []
        return " · ".join([*told, *([f"{broken} that cannot be read"] if broken else [])])

    def table(self) -> Table:
        met = [one for one in HEADS if one is Standing.RIGHT or any(self._number(file, one) for file in self.files)]
        columns = (Column("file", "name"), *(Column(HEADS[one], "count") for one in met), Column("of", "count"))
        return Table(columns, tuple(self._line(file, met) for file in self.files))

    def _number(self, file: HandedIn, standing: Standing) -> int:
        return sum(mark.standing is standing for mark in file.marks)

    def _line(self, file: HandedIn, met: Sequence[Standing]) -> Line:
        counts = [self._number(file, one) if file.report else None for one in met]
        total = len(file.marks) if file.report else None
        return Line((file.name, *counts, total), 1, notes=file.remarks)

    def more(self) -> Sequence[Table]:
        """How often each mistake was made, as a histogram."""
        columns = (Column("mistake", "name"), Column("files", "count"), Column("answers", "count"))
        wrong = sum(one.answers for one in self.mistakes)
        cells = [(one.name, one.files, one.answers, one.answers / wrong) for one in self.mistakes]
        lines = [Line(cell, 1, notes=(one.example,)) for cell, one in zip(cells, self.mistakes, strict=True)]
        return [Table((*columns, Column("share", "share")), tuple(lines))] if lines else []

    def record(self) -> dict[str, Any]:
        return {
            "schema_version": SCHEMA_VERSION,
            "folder": self.model,
            "files": len(self.files),
            "assumptions": self.assumed(),
            "mistakes": [one._asdict() for one in self.mistakes],
            "rows": [one.record() for one in self.files],
        }
