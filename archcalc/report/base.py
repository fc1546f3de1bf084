"""What an analyzer returns: raw values, laid out as figures and tables, never formatted.

A report with `rows` declares their columns once: `record` is what programs read of them (JSON, CSV), `table` what
people read. Every renderer takes every report, also one without figures, without an answer or without rows.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from archcalc.core.assumptions import Assumption
from archcalc.report.bar import Bar
from archcalc.report.table import Column, Table, Working, records_of, table_of
from archcalc.report.units import Tone
from archcalc.spec.scope import WHOLE, Scope

if TYPE_CHECKING:
    from pandas import DataFrame

    from archcalc.report.expected import Expected

SCHEMA_VERSION = 2


class Figure(NamedTuple):
    """One answer: `201,466,160 parameters`. `note` says what it leaves out or takes for granted."""

    label: str
    value: Any
    unit: str = "count"
    note: str = ""
    segment: int | None = None  # which part of the stacked bars it is


@dataclass(frozen=True)
class Report:
    """The base of every report. One with rows has them as a field `rows`, of its own type."""

    command: ClassVar[str]
    chart: ClassVar[str] = ""  # the picture of it, where there is one: a file and its function in `render/chart`
    notes_at_first: ClassVar[int] = 3  # that a terminal shows; what decides is always among them
    page: ClassVar[str] = ""  # its own page, where it has one: a file in `render/html`
    model: str
    assumptions: tuple[Assumption, ...]
    scope: Scope = field(default=WHOLE, kw_only=True)  # how much of the model is counted
    expected: Expected | None = field(default=None, kw_only=True)  # a number that it was compared with

    def title(self) -> str:
        return self.model

    def caption(self) -> str:
        """What stands above its picture."""
        return self.model

    def answer(self) -> str:
        """What was asked, in one line; without it the first figure is the answer."""
        return ""

    def briefly(self) -> str:
        """The same in fewer characters, for a line that is too narrow for it; empty where there is no such way."""
        return ""

    def tone(self) -> Tone:
        """How the answer is coloured where it is a verdict."""
        return ""

    def beneath(self) -> Sequence[str]:
        """Further lines of the answer."""
        return ()

    def working(self) -> Working | None:
        """How the answer was worked out, where that was asked for."""
        return None

    def figures(self) -> Sequence[Figure]:
        """The answers, the one that was asked for first."""
        return ()

    def bar(self) -> Bar | None:
        """Of the figures that have a segment, where all of the answer is about one device. In a terminal it stands for
        these figures and for the table."""
        return None

    def columns(self) -> Sequence[Column[Any]]:
        """Of the rows, for programs and for people."""
        return ()

    def table(self) -> Table:
        """A line for each row."""
        return table_of(self.columns(), getattr(self, "rows", ()))

    def more(self) -> Sequence[Table]:
        """Further tables, beneath the first."""
        return ()

    def sizes(self) -> Iterable[tuple[str, int]]:
        """Dims by name and size, where its shapes are written by names: for a legend of symbols."""
        return ()

    def record(self) -> dict[str, Any]:
        """Plain data with stable keys."""
        return {
            "schema_version": SCHEMA_VERSION,
            **self.facts(),
            "assumptions": [each.record() for each in self.assumptions],
            **self.details(),
            "rows": self.records(),
        }

    def facts(self) -> dict[str, Any]:
        """What the record says before its assumptions."""
        return {"model": self.model, **self.scope.record()}

    def details(self) -> dict[str, Any]:
        """Further lists of the record, before its rows."""
        return {}

    def records(self) -> list[dict[str, Any]]:
        """The rows of the record."""
        return records_of(self.columns(), getattr(self, "rows", ()))

    def flat(self) -> list[dict[str, Any]]:
        """The rows for a spreadsheet, one value a column."""
        return self.records()

    def heads(self) -> list[str]:
        """What the columns of a spreadsheet are called; those of the table where there is no row to tell."""
        found = dict.fromkeys(head for row in self.flat() for head in row)  # not every row has a value for each
        return list(found) or [column.label for column in self.table().columns]

    def to_pandas(self) -> DataFrame:
        """The rows as a data frame of pandas, one value a column; integers stay exact."""
        from archcalc.report.data_frame import data_frame

        frame: DataFrame = data_frame(self.flat(), self.heads())
        return frame

    def __str__(self) -> str:
        """As a terminal of 80 columns shows it, without colour."""
        return str(_renderer("as_table").render(self, width=80).translate(_renderer("style").UNSTYLED))

    def _repr_html_(self) -> str:
        """For notebooks."""
        return str(_renderer("notebook").render(self))

    def _repr_markdown_(self) -> str:
        return str(_renderer("as_markdown").render(self, width=80))


def given(**values: Any) -> dict[str, Any]:
    """Keys of a record that are there only where they have a value."""
    return {key: value for key, value in values.items() if value is not None}


def _renderer(name: str) -> Any:
    """By its name and on use, since renderers stand above reports and a report that nobody shows needs none."""
    return importlib.import_module(f"archcalc.render.{name}")
