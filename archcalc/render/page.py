"""A report for people, in words: the same layout, with control characters in every text escaped.

Renderers for people take a page, never a report, so no name from a file reaches a terminal unescaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from archcalc.core.assumptions import Assumption, summed_up
from archcalc.core.visible import visible
from archcalc.report.bar import Bar
from archcalc.report.base import Report
from archcalc.report.table import Column, Flag, Line, Matrix, Table
from archcalc.report.units import GLYPHS, UNITS, Quantity, Tone, words

if TYPE_CHECKING:
    from archcalc.report.picture import Picture

MARKS: dict[Flag, tuple[str, str]] = {  # what stands before and behind the name of a line
    "": ("", ""),
    "estimate": ("", " (estimate)"),
    "used": ("", " (used)"),
    "right": ("✓ ", ""),
    "wrong": ("✗ ", ""),
    "corrected": ("→ ", ""),
    "rounded": ("≈ ", ""),
    "unreadable": ("? ", ""),
}


class Amount(NamedTuple):
    """A figure: the value to the last digit, and what it comes to roughly: `201,466,160` and `201.5 M`."""

    label: str
    exact: str
    roughly: str
    note: str
    segment: int | None  # which part of the stacked bars it is
    marked: str  # its label, with the character that stands for it in the bars

    @property
    def human(self) -> str:
        """As people say it."""
        return self.roughly or self.exact

    @property
    def digits(self) -> str:
        """All of them, where `human` has fewer."""
        return self.exact if self.roughly else ""

    @property
    def quantity(self) -> str:
        """`201.5 M · 201,466,160`."""
        return " · ".join(filter(None, (self.human, self.digits)))

    @property
    def headline(self) -> str:
        """`201.5 M parameters · 201,466,160`."""
        return " · ".join(filter(None, (f"{self.human} {self.label}", self.digits)))


class Grid(NamedTuple):
    """A table: its values in `lines`, and what is written for each of them in `texts`."""

    columns: Sequence[Column[Any]]
    lines: Sequence[Line]
    texts: Sequence[Sequence[str]]
    picture: Picture | None = None

    def briefly(self) -> list[list[str]]:
        """The texts where there is little room, of units that have such a form."""
        return [list(map(_in_brief, self.columns, line.cells, texts)) for line, texts in self._rows()]

    def _rows(self) -> Iterable[tuple[Line, Sequence[str]]]:
        return zip(self.lines, self.texts, strict=True)


def _in_brief(column: Column[Any], value: Any, text: str) -> str:
    found, unit = value if isinstance(value, Quantity) else (value, column.unit)
    brief = UNITS[unit].brief
    return visible(brief(found)) if brief and found is not None else text


class Page(NamedTuple):
    """The contents of the page, from top to bottom."""

    title: str
    answer: Sequence[str]  # its lines; none where the first figure is the answer
    headline: Sequence[str]  # the same, of that figure too
    brief: str  # what may stand for the first of them where that is too long
    tone: Tone  # how the first of them is coloured
    expected: Sequence[str]  # what is said of a number that somebody expected
    scope: str  # what a partial count leaves out; empty where the whole model is counted
    worked: str
    figures: Sequence[Amount]
    besides: Sequence[Amount]  # figures that are not the headline
    bar: Bar | None  # of the figures that are its parts
    tables: Sequence[Grid]
    notes: Sequence[Assumption]


def page(report: Report) -> Page:
    working, expected = report.working(), report.expected
    worked = working.text() if working else ""
    figures = []
    for each in report.figures():
        unit, label = UNITS[each.unit], visible(each.label)
        exact = (unit.exact or unit.format)(each.value)
        roughly = unit.roughly(each.value) if unit.roughly and each.value >= unit.rough_from else ""
        marked = label if each.segment is None else f"{GLYPHS[each.segment]} {label}"
        figures.append(Amount(label, exact, roughly, visible(each.note), each.segment, marked))
    answer = [visible(line) for line in (report.answer(), *report.beneath()) if line]
    first = figures[: not answer]
    return Page(
        title=visible(report.title()),
        answer=answer,
        headline=answer or [each.headline for each in first],
        brief=visible(report.briefly()),
        tone=report.tone(),
        expected=[visible(line) for line in (expected.lines() if expected else ())],
        scope=visible(report.scope.headline()),
        worked=visible(worked),
        figures=figures,
        besides=figures[len(first) :],
        bar=report.bar(),
        tables=[_grid(each) for each in (report.table(), *report.more()) if each.columns],
        notes=[each._replace(text=visible(each.text)) for each in summed_up(report.assumptions)],
    )


def _grid(table: Table) -> Grid:
    """A working is read beneath its line, by renderers that write no formulas."""
    columns, lines, texts = [replace(column, label=visible(column.label)) for column in table.columns], [], []
    for line in table.lines:
        below = line.working.text() if line.working else line.below
        notes = (
            note._replace(name=visible(note.name)) if isinstance(note, Matrix) else visible(note) for note in line.notes
        )
        lines.append(line._replace(below=visible(below), notes=tuple(notes)))
        before, behind = MARKS[line.flag]
        values = zip(line.cells, table.columns, strict=True)
        name, *others = (visible(words(value, column.unit)) for value, column in values)
        texts.append([f"{before}{name}{behind}", *others])
    return Grid(columns, lines, texts, table.picture)


def entries(matrix: Matrix) -> list[list[str]]:
    """Its numbers with four decimals, and 0 where nothing stands."""
    return [[f"{entry:.4f}".replace("-", "−") if entry else "0" for entry in row] for row in matrix.rows]


def aligned(matrix: Matrix) -> list[str]:
    """A row to a line, between bars."""
    texts = entries(matrix)
    wide = max(len(text) for row in texts for text in row)
    return ["  ".join(["│", *(text.rjust(wide) for text in row), "│"]) for row in texts]
