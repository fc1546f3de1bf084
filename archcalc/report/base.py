"""What an analyzer returns: raw values, laid out as figures and a table, never formatted.

A Report serves every renderer: `record` is what programs read (JSON, CSV), `figures` and `table` are what people read.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

from archcalc.core.assumptions import Assumption
from archcalc.core.count import Count
from archcalc.core.expression import Leaf
from archcalc.report.expected import Expected
from archcalc.report.picture import Picture
from archcalc.spec.scope import WHOLE, Scope

SCHEMA_VERSION = 2

Unit = Literal[
    "name",
    "count",
    "times",
    "share",
    "text",
    "shape",
    "bytes",
    "flops",
    "change",
    "ratio",
    "residual",
    "tolerance",
    "binary",
    "memory",
    "bandwidth",
    "tera",
    "speed",
    "stack",
    "room",
    "bound",
    "fitting",
    "rough",
    "rough_flops",
]
Flag = Literal["", "estimate", "used", "right", "wrong", "corrected", "rounded", "unreadable"]
Tone = Literal["", "good", "fair", "bad"]  # how a verdict is coloured
LEFT: frozenset[Unit] = frozenset(("name", "text", "shape", "stack"))  # aligned to the left; all others are numbers


class Figure(NamedTuple):
    """One answer: `201,466,160 parameters`. `note` says what it leaves out or takes for granted."""

    label: str
    value: int
    unit: Unit = "count"
    note: str = ""
    segment: int | None = None  # which part of the stacked bars it is


class Quantity(NamedTuple):
    """A cell with a unit of its own, in a column of facts."""

    value: Any
    unit: Unit


class Column(NamedTuple):
    label: str
    unit: Unit
    spare: bool = False  # left out, with a word about it, where the terminal is too narrow
    about: Assumption | None = None  # what explains it, which is left out with it


class Working(NamedTuple):
    """How a number is worked out, from what it is called to what it comes to."""

    number: Count
    terms: tuple[str, ...]  # its name in sums; those of all where equal parts share a line
    quantity: str  # the letter that stands for such numbers in formulas: P for parameters, F for FLOPs
    names: bool = False  # by the names of dims instead of their sizes

    def text(self) -> str:
        """In one line; empty where that would only be the number again."""
        only = self.number.expression
        is_number = isinstance(only, Leaf) and not (self.names and only.subtotal)
        return "" if is_number else self.number.worked(names=self.names)


class Matrix(NamedTuple):
    """Numbers in rows and columns, as a note."""

    name: str
    rows: tuple[tuple[float, ...], ...]


class Line(NamedTuple):
    """A line of the table: values for its columns, how deep it is indented, and words to print beneath it."""

    cells: tuple[Any, ...]
    depth: int = 0
    below: str = ""
    heading: bool = False  # groups the lines under it
    flag: Flag = ""  # what is to be known of it at a glance
    working: Working | None = None  # of its number, where that was asked for: printed beneath it, or as a formula
    tone: Tone = ""  # colours the mark before its name and its last cell
    notes: tuple[str | Matrix, ...] = ()  # sentences beneath it, a line each, and matrices


@dataclass(frozen=True)
class Table:
    """Every line has a cell for each column, and none besides."""

    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    picture: Picture | None = None  # of the same values, drawn above it where there are no pages

    def __post_init__(self) -> None:
        for line in self.lines:
            if len(line.cells) != len(self.columns):
                raise ValueError(f"{len(line.cells)} cells for {len(self.columns)} columns: {line.cells}")


@dataclass(frozen=True)
class Report:
    """The base of every report."""

    command: ClassVar[str]
    chart: ClassVar[str] = ""  # the picture of it, where there is one: a file and its function in `render/chart`
    model: str
    assumptions: tuple[Assumption, ...]
    scope: Scope = field(default=WHOLE, kw_only=True)  # how much of the model is counted
    expected: Expected | None = field(default=None, kw_only=True)  # a number that it was compared with

    def title(self) -> str:
        return self.model

    def answer(self) -> str:
        """What was asked, in one line; without it the first figure is the answer."""
        return ""

    def briefly(self) -> str:
        """The same in fewer characters, for a line that is too narrow for it; empty where there is no such way."""
        return ""

    def beneath(self) -> Sequence[str]:
        """Further lines of the answer."""
        return ()

    def working(self) -> Working | None:
        """How the answer was worked out, where that was asked for."""
        return None

    def worked(self) -> str:
        """The same in one line."""
        working = self.working()
        return working.text() if working else ""

    def figures(self) -> Sequence[Figure]:
        """The answers, the one that was asked for first."""
        return ()

    def table(self) -> Table:
        raise NotImplementedError

    def more(self) -> Sequence[Table]:
        """Further tables, beneath the first."""
        return ()

    def sizes(self) -> Iterable[tuple[str, int]]:
        """Dims by name and size, where its shapes are written by names: for a legend of symbols."""
        return ()

    def record(self) -> dict[str, Any]:
        """Plain data with stable keys."""
        raise NotImplementedError

    def assumed(self) -> list[dict[str, Any]]:
        """The assumptions of the record."""
        return [each.record() for each in self.assumptions]

    def flat(self) -> list[dict[str, Any]]:
        """The rows of the record for a spreadsheet, one value a column."""
        rows: list[dict[str, Any]] = self.record()["rows"]
        return rows

    def __str__(self) -> str:
        """As a terminal of 80 columns shows it, without colour."""
        return str(_renderer("style").unstyled(_renderer("as_table").render(self, width=80)))

    def _repr_html_(self) -> str:
        """For notebooks."""
        return str(_renderer("notebook").render(self))

    def _repr_markdown_(self) -> str:
        return str(_renderer("as_markdown").render(self, width=80))

    def heads(self) -> list[str]:
        """What the columns of a spreadsheet are called; those of the table where there is no row to tell."""
        found = dict.fromkeys(head for row in self.flat() for head in row)  # not every row has a value for each
        return list(found) or [column.label for column in self.table().columns]


def _renderer(name: str) -> Any:
    """By its name and on use, since renderers stand above reports and a report that nobody shows needs none."""
    return importlib.import_module(f"archcalc.render.{name}")
