"""Lines of a program's log as data (presets/logs), and what each says of a run.

    "Tried to allocate {size}"                   a figure: a number with its unit
    "{gpu} KV buffer size = {size}"              of a buffer on a device, and not in host RAM
    "K size: {size}, V size: {size}"             the sum of both
    "max_seq_len={count}"                        a value of the run
    "offloaded {count}/{count} layers"           the first, unless it is all of them
    {line: ".backward(", value: train}           a value that is not written, where the line is there

`…` stands for anything in between. A space may be a line break: terminals wrap what people copy. Every repeat has a
bound, so that no text takes long.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from archcalc.analyze.oom.figures import FIGURES
from archcalc.run.engine.rules import fields_of
from archcalc.spec import paths
from archcalc.spec.data_files import node
from archcalc.spec.node import Node

KINDS = {
    "size": r"(-?\d{1,15}(?:[.,]\d{1,4})?\s{0,9}(?:bytes|[KMGT]i?B))",
    "count": r"(\d{1,3}(?:,\d{3}){1,5}|\d{1,15})",
    "several": r"([2-9]|\d{2,6})",
    "number": r"(\d{1,15}(?:\.\d{1,9})?)",
    "word": r"([\w.+-]{1,40})",
    "text": r"([^'\",()\n]{1,200})",
    "version": r"(\d{1,6}(?:\.\d{1,6}){0,2})",
    "gpu": r"(?!CPU)(?!\w{0,40}Host)\w{1,40}",
}
NUMBERS = ("size", "count", "number")  # kinds of which figures are made
SHORTEST = 3  # characters of a line's longest word
SPACE, BETWEEN = r"\s{1,40}", r"[\s\S]{0,400}?"
_PIECES = re.compile(rf"{{({'|'.join(KINDS)})}}|(…)|(\s+)|([^{{…\s]+|{{)")


def matches(line: str, text: str) -> Iterator[re.Match[str]]:
    """Where a text has the line; one that lacks its longest word is not searched."""
    word, pattern = _compiled(line)
    if word in text:
        yield from pattern.finditer(text)


def expression(line: str) -> str:
    """A line as a regular expression, in which the first word is a whole one."""
    found = r"(?<!\w)" if line[:1].isalnum() or line[:1] == "{" else ""
    for kind, gap, space, text in _PIECES.findall(line):
        found += KINDS.get(kind) or (gap and BETWEEN) or (space and SPACE) or re.escape(text)
    return found


@cache
def _compiled(line: str) -> tuple[str, re.Pattern[str]]:
    return _longest_word(line), re.compile(expression(line))


def _longest_word(line: str) -> str:
    return max((text for *_, text in _PIECES.findall(line)), key=len, default="")


def _short(kind: type, field: str) -> BeforeValidator:
    """A value of this kind is short for an object that has only this field."""
    return BeforeValidator(lambda value: {field: value} if isinstance(value, kind) else value)


def _known(value: dict[str, Any]) -> dict[str, Any]:
    unknown = value.keys() - FIGURES.keys()
    if unknown:
        raise ValueError(f"no figure is called {min(unknown)}; those that are: {', '.join(FIGURES)}")
    return value


def _with_word(line: str) -> str:
    if len(_longest_word(line)) < SHORTEST:
        raise ValueError(f"expected a line with a word of {SHORTEST} or more characters to search for, found {line}")
    return line


def _with_number(line: str) -> str:
    kinds = {kind for kind, *_ in _PIECES.findall(line) if kind}
    if not kinds & {*NUMBERS} or kinds - {*NUMBERS, "gpu"}:
        raise ValueError(f"expected a line with one of {{{'}, {'.join(NUMBERS)}}}, found {line}")
    return line


def _with_figures(says: str) -> str:
    _known(dict.fromkeys(fields_of(says)))
    return says


Line = Annotated[str, AfterValidator(_with_word)]
AS_LINES = _short(list, "lines")


class Value(Node):
    """A line with a value in it, or with one that it stands for; neither: that it is so."""

    line: Line
    value: str = ""


class Figure(Node):
    """The last that a line says, or of several devices the sum or the largest."""

    lines: list[Annotated[Line, AfterValidator(_with_number)]]
    take: Literal["last", "sum", "most"] = "last"


class Choice(Node):
    """An option of the run: the first line that is there; `over` is the option that it is divided by."""

    lines: list[Annotated[Value, _short(str, "line")]]
    over: str = ""


class Failure(Node):
    """A line, and what happened where it is there, with figures of the log: `{kv_pool}`."""

    line: Line
    says: Annotated[str, AfterValidator(_with_figures)]


class Program(Node):
    """What a program writes of its memory. `begins` are the starts of a message or of a run: of the one that is there
    the first, or the last; `buffers` if all tensors of a kind are one allocation."""

    name: str
    source: str
    engine: str = ""  # of --engine; nothing: the log tells none
    version: list[Line] = Field(default_factory=list)
    begins: list[Line] = Field(default_factory=list)
    first: bool = False
    reaches: int = 0  # characters; 0: all that follows
    buffers: bool = False
    figures: Annotated[dict[str, Annotated[Figure, AS_LINES]], AfterValidator(_known)] = Field(default_factory=dict)
    options: dict[str, Annotated[Choice, AS_LINES]] = Field(default_factory=dict)
    not_counted: list[Line] = Field(default_factory=list)  # settings that archcalc does not count
    failures: list[Failure] = Field(default_factory=list)
    phases: dict[str, list[str]] = Field(default_factory=dict)  # of a step, by what a traceback has of each


def programs() -> list[Program]:
    """All whose logs are read, those that name an engine first."""
    found = [node(file, Program) for file in paths.presets("logs").values()]
    return sorted(found, key=lambda one: not one.engine)
