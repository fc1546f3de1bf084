"""ANSWERS.yaml: the model of a worksheet, its seed, and a named blank for every asked figure.

The file alone is enough to mark it: the model is written out with the sizes that the seed gave. Whoever has the sheet
that was given out marks against that one instead, and what the file says of the model does not count.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from archcalc.core.errors import InputError, Path, did_you_mean, dotted
from archcalc.core.visible import visible
from archcalc.exercises.blanks import QUESTIONS, Blank, blanks
from archcalc.exercises.cells import Cell, read_cell
from archcalc.exercises.sheet import Sheet, sizes_of
from archcalc.model import Model
from archcalc.spec.node import shown
from archcalc.spec.yaml_reader import Document
from archcalc.spec.yaml_reader import read as read_yaml
from archcalc.spec.yaml_writer import to_yaml

FIELD = "fingerprint"  # of model, questions and depth: tells when one of them was changed since, by accident or not
ASKED = ("model", "questions", "depth")
DIGITS = 12
FIELDS = ("worksheet", "seed", "student", FIELD, "questions", "depth", "model", "answers")
VERSION = 1
MOST_NAMED = 3  # changes of a sheet that a sentence names
_PLAIN = re.compile(r"[A-Za-z][\w.-]*")  # a name that YAML takes as it is
_CELL = re.compile(r"(?P<name>\s+[^\s#'\"][^:]*:|\s+\"[^\"]*\":)[ \t]*(?P<said>[^\s#].*?)(?P<comment>\s+# \D\d+ .*)?")
_CONTROL = re.compile(r"[^\t\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
Place = tuple[str, str]  # of a blank: its question and name
HOW = (
    "Numbers as 36864, 36,864 or 12 * (64*48 + 48); shapes as 8 x 100 x 64. Leave open what you skip.",
    "Then: archcalc check THIS-FILE",
)


def written(sheet: Sheet, *, solved: bool = False) -> str:
    """The file for a student to fill in; with the answers themselves if it is `solved`."""
    model = to_yaml(sheet.model.spec, order=sheet.model.document.data)
    asked = [f"questions: [{', '.join(sheet.questions)}]", "model:", *(f"  {line}" for line in model.splitlines())]
    if sheet.depth:
        asked.insert(1, f"depth: {sheet.depth}")
    mark = fingerprint(read_yaml("\n".join(asked).encode(), "").data)
    head = [*(f"# {line}" for line in HOW), f"worksheet: {VERSION}"]
    if sheet.seed is not None:
        head.append(f"seed: {sheet.seed}")
    answers: list[str] = []
    for section in sheet.sections:
        answers.append(f"  {section.question}:")
        answers += [f"    {_line(blank, solved)}" for blank in section.blanks]
    return "\n".join([*head, "student:", f"{FIELD}: '{mark}'", *asked, "answers:", *answers, ""])


def _line(blank: Blank, solved: bool) -> str:
    name = blank.name if _PLAIN.fullmatch(blank.name) else json.dumps(blank.name, ensure_ascii=False)
    sizes = (blank.answer,) if isinstance(blank.answer, int) else blank.answer
    solution = f" {' x '.join(map(str, sizes))}" if solved else ""
    return f"{name}:{solution}  # {visible(f'{blank.number} {blank.label}')}"


@dataclass(frozen=True)
class Filled:
    """A file that was filled in: the sheet that it is marked by, and the cells by question and name."""

    sheet: Sheet
    student: str
    cells: dict[Place, Cell]
    strays: tuple[str, ...] = ()  # what stands among the answers and is no blank of the sheet
    changed: str = ""  # how the file's model differs from the one that was given out


@dataclass(frozen=True)
class GivenOut:
    """A sheet as it was given out: its file, and what that asks."""

    document: Document
    sheet: Sheet
    is_trusted: bool = False  # the teacher's own, and not what a student's file says of itself


def document(raw: bytes, name: str) -> Document:
    """The file as YAML; where an answer makes it none, such as `2: 3`, once more with every answer as a text."""
    try:
        return read_yaml(raw, name)
    except InputError:
        # Every cell between quotes, without the characters that no YAML may have.
        before, heading, answers = raw.decode("utf-8-sig", errors="replace").partition("\nanswers:")
        quoted = before + heading + "\n".join(_quoted_line(_CONTROL.sub("", line)) for line in answers.split("\n"))
        with suppress(InputError):
            return read_yaml(quoted.encode(), name)
        raise


def _quoted_line(line: str) -> str:
    found = _CELL.fullmatch(line.rstrip())
    if found:
        return f"{found['name']} {json.dumps(found['said'], ensure_ascii=False)}"
    return line


def given_out(document: Document) -> GivenOut:
    """The sheet of a file; a mistake in it is told with its line and field."""
    data = document.data
    with document.locating():
        for field in data:
            if field not in FIELDS:
                raise InputError("no such field", did_you_mean(field, FIELDS), fields=[(field,)])
        if data.get("worksheet") != VERSION:
            hint = "give the ANSWERS.yaml that `archcalc worksheet MODEL -o FOLDER` wrote"
            fact = "this is no file of answers" if "worksheet" not in data else f"expected {VERSION}"
            raise InputError(fact, hint, fields=[("worksheet",)])
        return GivenOut(document, _sheet(document, _questions(data)))


def read(document: Document, given: GivenOut | None = None) -> Filled:
    """Every answer to the sheet that was given out, or to the file's own if that is not at hand."""
    by = given or given_out(document)
    with document.locating():
        if not isinstance(document.data.get("answers"), dict):
            hint = "give the ANSWERS.yaml that `archcalc worksheet MODEL -o FOLDER` wrote"
            raise InputError("expected the blanks", hint, fields=[("answers",), ()])
    cells, strays = _read_answers(document.data["answers"], by.sheet)
    student, mark, changed = document.data.get("student"), document.data.get(FIELD), ""
    name = "" if student is None else visible(str(student))
    found = changes(by.document.data, document.data)
    if found:
        more = [f"and {len(found) - MOST_NAMED} more"] if len(found) > MOST_NAMED else []
        changed = f"this file asks about something else: {'; '.join(found[:MOST_NAMED] + more)}"
    elif not by.is_trusted and mark is not None and str(mark) != fingerprint(document.data):  # older files have none
        changed = "the model or the questions were changed after the file was written"
    return Filled(by.sheet, name, cells, strays, changed)


def _questions(data: dict[str, Any]) -> tuple[str, ...]:
    said = data.get("questions")
    if not isinstance(said, list) or not said:
        raise InputError("expected a list", "such as [params, shapes]", fields=[("questions",), ()])
    for place, question in enumerate(said):
        if question not in QUESTIONS:
            hint = did_you_mean(str(question), QUESTIONS)
            raise InputError(f"no question called {shown(question)}", hint, fields=[("questions", place)])
    return tuple(dict.fromkeys(said))


def _sheet(document: Document, questions: tuple[str, ...]) -> Sheet:
    """The model is read as any spec, and a mistake in it is told under `model`."""
    data, seed, depth = (document.data.get(field) for field in ("model", "seed", "depth"))
    if depth is not None and not (isinstance(depth, int) and depth > 0):
        raise InputError(f"expected a number of levels, found {shown(depth)}", fields=[("depth",)])
    if not isinstance(data, dict) or not data:
        raise InputError("expected the fields of a spec", "keep what the file had", fields=[("model",), ()])
    try:
        model = Model.from_document(Document("", data=data), "model")
        model.build()
    except InputError as error:
        error.file, error.line, error.excerpt = "", 0, ""
        error.fields = tuple(("model", *path) for path in error.fields) or (("model",),)
        raise
    if model.spec.family == "weights":
        raise InputError("a list of tensors is no model to ask questions about", fields=[("model", "family")])
    return Sheet(model, seed if isinstance(seed, int) else None, questions, blanks(model, questions, depth), depth)


def _read_answers(said: dict[str, Any], sheet: Sheet) -> tuple[dict[Place, Cell], tuple[str, ...]]:
    known = {(blank.question, blank.name): blank for blank in sheet.blanks}
    sizes = sizes_of(sheet.model.build())
    cells: dict[Place, Cell] = {}
    strays: list[str] = []
    for question, given in said.items():
        for name, value in (given if isinstance(given, dict) else {"": given}).items():
            place = str(question), str(name)
            if place in known:
                cells[place] = read_cell(value, known[place], sizes)
            elif value is not None:
                written = visible(".".join(place).rstrip("."))
                names = [other for asked, other in known if asked == place[0]]
                guess = did_you_mean(place[1], names) if place[1] and names else "keep the names that the file had"
                strays.append(f"{written} is no blank of this sheet: {guess}")
    return cells, tuple(strays)


def fingerprint(data: Mapping[str, Any]) -> str:
    """Of the data as it stands in the file: comments, quotes and the order of fields do not count."""
    asked = {field: data.get(field) for field in ASKED}
    canonical = json.dumps(asked, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(canonical.encode()).hexdigest()[:DIGITS]


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What differs between two sheets, field by field: `model.d_model: 1024, here 512`."""
    old, new = (dict(_flat({field: data.get(field) for field in ASKED})) for data in (before, after))
    differing = [path for path in dict.fromkeys((*old, *new)) if old.get(path) != new.get(path)]
    return [f"{dotted(path)}: {old.get(path, 'not there')}, here {new.get(path, 'not there')}" for path in differing]


def _flat(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(inner, (*path, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _flat(inner, (*path, place))
    elif value is not None:
        yield path, value
