"""ANSWERS.yaml: the model of a worksheet, its seed, and a named blank for every asked figure.

The file alone is enough to mark it: the model is written out with the sizes that the seed gave.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from archcalc.core.errors import InputError, Path, did_you_mean
from archcalc.core.visible import visible
from archcalc.exercises import arithmetic
from archcalc.exercises.blanks import QUESTIONS, Blank, Shape, blanks
from archcalc.exercises.sheet import Sheet
from archcalc.model import from_document
from archcalc.spec.node import shown
from archcalc.spec.yaml_reader import Document
from archcalc.spec.yaml_writer import to_yaml

FIELDS = ("worksheet", "seed", "student", "questions", "depth", "model", "answers")
VERSION = 1
_PLAIN = re.compile(r"[A-Za-z][\w.-]*")  # a name that YAML takes as it is
Answer = Fraction | Shape
HOW = (
    "Numbers as 36864, 36,864 or 12 * (64*48 + 48); shapes as 8 x 100 x 64. Leave open what you skip.",
    "Then: archcalc check THIS-FILE",
)


def written(sheet: Sheet, *, solved: bool = False) -> str:
    """The file for a student to fill in; with the answers themselves if it is `solved`."""
    model = to_yaml(sheet.model.spec, order=sheet.model.document.data)
    head = [f"# {line}" for line in HOW]
    fields = [f"worksheet: {VERSION}", *([f"seed: {sheet.seed}"] if sheet.seed is not None else []), "student:"]
    depth = [f"depth: {sheet.depth}"] if sheet.depth else []
    fields += [f"questions: [{', '.join(sheet.questions)}]", *depth]
    fields += ["model:", *_indented(model.splitlines()), "answers:"]
    return "\n".join([*head, *fields, *_indented(_answers(sheet, solved))]) + "\n"


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _answers(sheet: Sheet, solved: bool) -> list[str]:
    lines: list[str] = []
    for section in sheet.sections:
        lines.append(f"{section.question}:")
        lines += [f"  {_line(blank, solved)}" for blank in section.blanks]
    return lines


def _line(blank: Blank, solved: bool) -> str:
    name = blank.name if _PLAIN.fullmatch(blank.name) else json.dumps(blank.name, ensure_ascii=False)
    return f"{name}:{_solution(blank) if solved else ''}  # {visible(f'{blank.number} {blank.label}')}"


def _solution(blank: Blank) -> str:
    return f" {blank.answer}" if isinstance(blank.answer, int) else f" {' x '.join(map(str, blank.answer))}"


@dataclass(frozen=True)
class Filled:
    """A file that was filled in: the sheet, and the answers by question and name."""

    sheet: Sheet
    student: str
    answers: dict[tuple[str, str], Answer]
    said: dict[tuple[str, str], str]  # as they were written


def read(document: Document) -> Filled:
    """The sheet again, and every answer; a mistake in the file is told with its line and field."""
    with document.locating():
        data = document.data
        _check_fields(data)
        questions = _questions(data)
        sheet = _sheet(document, questions)
        known = {(blank.question, blank.name): blank for blank in sheet.blanks}
        answers, said = _read_answers(data.get("answers"), questions, known)
    student = data.get("student")
    return Filled(sheet, "" if student is None else str(student), answers, said)


def _check_fields(data: dict[str, Any]) -> None:
    for field in data:
        if field not in FIELDS:
            raise InputError("no such field", did_you_mean(field, FIELDS), fields=[(field,)])
    if data.get("worksheet") != VERSION:
        hint = "give the ANSWERS.yaml that `archcalc worksheet MODEL -o FOLDER` wrote"
        fact = "this is no file of answers" if "worksheet" not in data else f"expected {VERSION}"
        raise InputError(fact, hint, fields=[("worksheet",)])


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
        model = from_document(Document("", data=data), "model")
        model.build()
    except InputError as error:
        error.file, error.line, error.excerpt = "", 0, ""
        error.fields = tuple(("model", *path) for path in error.fields) or (("model",),)
        raise
    if model.spec.family == "weights":
        raise InputError("a list of tensors is no model to ask questions about", fields=[("model", "family")])
    return Sheet(model, seed if isinstance(seed, int) else None, questions, blanks(model, questions, depth), depth)


def _read_answers(
    said: Any, questions: tuple[str, ...], known: dict[tuple[str, str], Blank]
) -> tuple[dict[tuple[str, str], Answer], dict[tuple[str, str], str]]:
    if not isinstance(said, dict):
        raise InputError("expected the blanks", "keep the names that the file had", fields=[("answers",), ()])
    answers: dict[tuple[str, str], Answer] = {}
    words: dict[tuple[str, str], str] = {}
    for question, given in said.items():
        if question not in questions:
            raise InputError("no such question", did_you_mean(question, questions), fields=[("answers", question)])
        for name, value in (given or {}).items() if isinstance(given or {}, dict) else _no_blanks(question):
            place: Path = ("answers", question, name)
            if (question, name) not in known:
                names = [blank.name for blank in known.values() if blank.question == question]
                raise InputError("no such blank", did_you_mean(name, names), fields=[place])
            if value is not None:
                answers[question, name] = _answer(value, known[question, name], place)
                words[question, name] = _as_said(value)
    return answers, words


def _no_blanks(question: str) -> Any:
    raise InputError("expected the blanks", "keep the names that the file had", fields=[("answers", question)])


def _answer(value: Any, blank: Blank, place: Path) -> Answer:
    try:
        return _shape(value) if isinstance(blank.answer, tuple) else _number(value)
    except ValueError as reason:
        wanted = "a shape, such as 8 x 100 x 64" if isinstance(blank.answer, tuple) else "a number or its working"
        raise InputError(f"{shown(value)} cannot be read: {reason}", f"write {wanted}", fields=[place]) from None


def _number(value: Any) -> Fraction:
    if isinstance(value, str):
        return arithmetic.number(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("it is no number")
    return arithmetic.number(repr(value))


def _shape(value: Any) -> Shape:
    if isinstance(value, list) and all(isinstance(size, int) and not isinstance(size, bool) for size in value):
        return tuple(value)
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return arithmetic.shape(str(value))
    raise ValueError("it is no shape")


def _as_said(value: Any) -> str:
    if isinstance(value, list):
        return " × ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)
