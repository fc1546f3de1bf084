"""A report for people: the same layout, with control characters in every text escaped.

Renderers for people take a page, never a report, so no name from a file reaches a terminal unescaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from archcalc.core.assumptions import Assumption, summed_up
from archcalc.core.visible import visible
from archcalc.report.base import Column, Figure, Line, Matrix, Quantity, Report, Table


@dataclass(frozen=True)
class Page:
    """The contents of the page, from top to bottom."""

    title: str
    answer: Sequence[str]  # its lines; none where the first figure is the answer
    brief: str  # what may stand for the first of them where that is too long
    expected: Sequence[str]  # what is said of a number that somebody expected
    scope: str  # what a partial count leaves out; empty where the whole model is counted
    worked: str
    figures: Sequence[Figure]
    tables: Sequence[Table]
    notes: Sequence[Assumption]


def page(report: Report) -> Page:
    answer = [line for line in (report.answer(), *report.beneath()) if line]
    return Page(
        title=visible(report.title()),
        answer=[visible(line) for line in answer],
        brief=visible(report.briefly()),
        expected=[visible(line) for line in (report.expected.lines() if report.expected else ())],
        scope=visible(report.scope.headline()),
        worked=visible(report.worked()),
        figures=[_figure(each) for each in report.figures()],
        tables=[_table(each) for each in (report.table(), *report.more())],
        notes=[_note(each) for each in summed_up(report.assumptions)],
    )


def _note(each: Assumption) -> Assumption:
    return replace(each, text=visible(each.text))


def _figure(each: Figure) -> Figure:
    return each._replace(label=visible(each.label), note=visible(each.note))


def _table(each: Table) -> Table:
    return Table(tuple(map(_column, each.columns)), tuple(map(_line, each.lines)), each.picture)


def _column(each: Column) -> Column:
    return each._replace(label=visible(each.label), about=each.about and _note(each.about))


def _line(each: Line) -> Line:
    """A working is read beneath its line, by renderers that write no formulas."""
    below = each.working.text() if each.working else each.below
    notes = tuple(map(_beneath, each.notes))
    return each._replace(cells=tuple(map(_cell, each.cells)), below=visible(below), notes=notes)


def _beneath(note: str | Matrix) -> str | Matrix:
    return note._replace(name=visible(note.name)) if isinstance(note, Matrix) else visible(note)


def _cell(value: Any) -> Any:
    """A text, or a shape by the names of its dims."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Quantity):
        return value._replace(value=_cell(value.value))
    return tuple(map(_cell, value)) if isinstance(value, list | tuple) else value
