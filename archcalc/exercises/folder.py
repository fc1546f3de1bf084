"""Marking what a class handed in: which files, by which sheet. A file that cannot be read is a row like the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError
from archcalc.core.visible import visible
from archcalc.exercises.answers import GivenOut, given_out, read
from archcalc.exercises.class_report import ClassReport, HandedIn
from archcalc.exercises.explaining import Explanations
from archcalc.exercises.fingerprint import changes, fingerprint
from archcalc.exercises.report import CheckReport, check, legend
from archcalc.spec.yaml_reader import Document

SUFFIXES = (".yaml", ".yml")
MOST_FILES = 5_000
USUAL_NAME = "ANSWERS"  # of the file that `archcalc worksheet` writes
Reader = Callable[[str], Document]


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
    files = answer_files(folder)
    handed_in = tuple(_handed_in(path, folder, marker, opened) for path in files)
    notes = (*marker.notes(), legend(one.marks for one in handed_in))
    return ClassReport(model=str(folder), assumptions=notes, files=handed_in)


def _handed_in(path: Path, folder: Path, marker: Marker, opened: Reader) -> HandedIn:
    # By the file's name; by its folder's where every student's file has the usual name.
    bare = path.relative_to(folder).with_suffix("")
    name = visible((bare.parent if bare.name == USUAL_NAME and bare.parent.name else bare).as_posix())
    try:
        return HandedIn(name, marker.report(opened(str(path))))
    except InputError as error:  # in one line: the file's name stands beside it
        place = f"line {error.line}" if error.line else ""
        return HandedIn(name, trouble=": ".join(filter(None, (place, error.field, error.fact))))
