"""Marking what a class handed in: which files, by which sheet, and how often each mistake was made.

A file that cannot be read is a row like the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError
from archcalc.core.visible import visible
from archcalc.exercises.answers import GivenOut, changes, fingerprint, given_out, read
from archcalc.exercises.explaining import Explanations
from archcalc.exercises.marking import Standing
from archcalc.exercises.report import CheckReport, check, legend
from archcalc.report.base import Report
from archcalc.report.table import Column, Line, Table, cells_of, in_tables, keys, records_of
from archcalc.spec.yaml_reader import Document

SUFFIXES = (".yaml", ".yml")
MOST_FILES = 5_000
USUAL_NAME = "ANSWERS"  # of the file that `archcalc worksheet` writes
Reader = Callable[[str], Document]
HEADS = {Standing.RIGHT: "right", Standing.ROUNDED: "≈", Standing.FOLLOWS: "→", Standing.WRONG: "wrong"}
HEADS |= {Standing.UNREADABLE: "?", Standing.OPEN: "open"}
UNNAMED = "no mistake that is known"
NOT_READ = CheckReport(model="", assumptions=(), student="", seed=None, marks=())


class HandedIn(NamedTuple):
    """One file: its report, or what is wrong with the file."""

    file: str
    report: CheckReport = NOT_READ
    trouble: str = ""

    @property
    def is_read(self) -> bool:
        return not self.trouble

    @property
    def name(self) -> str:
        """Files are often all called the same, and then the student's own folder tells."""
        said = self.report.student
        return f"{self.file} ({said})" if said not in ("", self.file) else self.file

    @property
    def remarks(self) -> tuple[str, ...]:
        changed = f"not the sheet: {self.report.changed}" if self.report.changed else ""
        return tuple(remark for remark in (changed, *self.report.strays, self.trouble) if remark)

    @property
    def first_mistake(self) -> str:
        """The blank that it was made in."""
        first = self.report.first_mistake
        return first.blank.name if first else ""

    @property
    def mistake(self) -> str:
        first = self.report.first_mistake
        return first.mistake if first else ""

    def number(self, standing: Standing) -> int:
        return sum(mark.standing is standing for mark in self.report.marks)


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
        return all(one.is_read and one.report.all_right for one in self.files)

    @property
    def mistakes(self) -> list[Made]:
        """The commonest first; wrong answers that none explains come last."""
        wrong = [(one.file, mark) for one in self.files for mark in one.report.marks if mark.standing is Standing.WRONG]
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
        right = sum(one.is_read and one.report.all_right for one in self.files)
        broken = sum(not one.is_read for one in self.files)
        changed = sum(bool(one.report.changed) for one in self.files)
        told = [f"{len(self.files):,} files", f"{right} all right"]
        told += [f"{changed} with another model"] if changed else []
        return " · ".join([*told, *([f"{broken} that cannot be read"] if broken else [])])

    def columns(self) -> tuple[Column[HandedIn], ...]:
        """A file that cannot be read has no numbers in the table."""
        met = {one for one in HEADS if one is Standing.RIGHT or any(file.number(one) for file in self.files)}
        return (
            Column("file"),
            Column("", "file", "name", "name"),
            Column("student", get="report.student"),
            *(Column(str(one), get=partial(HandedIn.number, standing=one)) for one in Standing),
            *(Column("", head, "count", partial(_read, one), shown=one in met) for one, head in HEADS.items()),
            Column("total", get=lambda file: len(file.report.marks)),
            Column("", "of", "count", lambda file: len(file.report.marks) if file.is_read else None),
            *keys("first_mistake", "mistake"),
            Column("changed", get="report.changed"),
            Column("trouble"),
        )

    def table(self) -> Table:
        columns = in_tables(self.columns())
        return Table(columns, tuple(Line(cells_of(columns, file), 1, notes=file.remarks) for file in self.files))

    def more(self) -> Sequence[Table]:
        """How often each mistake was made, as a histogram."""
        wrong = sum(one.answers for one in self.mistakes)
        share = Column[Made]("", "share", "share", lambda one: one.answers / wrong)
        columns = (*in_tables(MISTAKES), share)
        lines = [Line(cells_of(columns, one), 1, notes=(one.example,)) for one in self.mistakes]
        return [Table(columns, tuple(lines))] if lines else []

    def facts(self) -> dict[str, Any]:
        return {"folder": self.model, "files": len(self.files)}

    def details(self) -> dict[str, Any]:
        return {"mistakes": records_of(MISTAKES, self.mistakes)}

    def records(self) -> list[dict[str, Any]]:
        return records_of(self.columns(), self.files)


MISTAKES: tuple[Column[Made], ...] = (
    Column("name", "mistake", "name"),
    Column("answers"),
    Column("files", "files", "count"),
    Column("", "answers", "count", "answers"),
    Column("example"),
)


def _read(standing: Standing, file: HandedIn) -> int | None:
    return file.number(standing) if file.is_read else None


def answer_files(folder: Path) -> list[Path]:
    """Every YAML file in a folder and those below it, in order of their names; hidden ones are left out."""
    found = (path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file())
    seen = sorted(path for path in found if not any(part.startswith(".") for part in path.relative_to(folder).parts))
    if not seen:
        raise InputError("no file of answers is in this folder", "they end in .yaml", field=str(folder))
    if len(seen) > MOST_FILES:
        raise InputError(f"more than {MOST_FILES:,} files", "name a folder with answers alone", field=str(folder))
    return seen


class Marker:
    """Marks files by the sheets that were given out, or else each by its own; equal sheets are worked out once."""

    def __init__(self, sheets: Iterable[Document] = ()) -> None:
        self._given = [replace(given_out(document), is_trusted=True) for document in sheets]
        self._known: dict[str, tuple[GivenOut, Explanations]] = {}

    def report(self, document: Document) -> CheckReport:
        """By the sheet that a file was made of, or that it differs least from."""
        nearest = min(self._given, key=lambda one: len(changes(one.document.data, document.data)), default=None)
        given = nearest or given_out(document)
        known = self._known.setdefault(fingerprint(given.document.data), (given, Explanations(given.sheet)))
        return check(read(document, known[0]), known[1])

    def notes(self) -> tuple[Assumption, ...]:
        """What a teacher should know who gave no sheet."""
        if self._given or len(self._known) < 2:
            return ()
        words = f"{len(self._known)} different sheets, each file marked by its own; --sheet marks by yours"
        return (Assumption(Topic.TABLE, words),)


def check_folder(folder: Path, marker: Marker, opened: Reader) -> ClassReport:
    """Every file of a folder, marked."""
    handed_in: list[HandedIn] = []
    for path in answer_files(folder):
        # By the file's name; by its folder's where every student's file has the usual name.
        bare = path.relative_to(folder).with_suffix("")
        name = visible((bare.parent if bare.name == USUAL_NAME and bare.parent.name else bare).as_posix())
        try:
            handed_in.append(HandedIn(name, marker.report(opened(str(path)))))
        except InputError as error:  # in one line: the file's name stands beside it
            place = f"line {error.line}" if error.line else ""
            handed_in.append(HandedIn(name, trouble=": ".join(filter(None, (place, error.field, error.fact)))))
    notes = (*marker.notes(), legend(one.report.marks for one in handed_in))
    return ClassReport(model=str(folder), assumptions=notes, files=tuple(handed_in))
