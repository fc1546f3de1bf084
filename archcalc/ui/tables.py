"""Reports as the page shows them: every number is text already, as a terminal shows it, and every text is escaped for
one. A number of a script has 53 bits, which parameters and FLOPs exceed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from archcalc.core.assumptions import Assumption
from archcalc.render.page import Page, page
from archcalc.render.words import aligned, cells, figure
from archcalc.report.base import LEFT, Column, Figure, Line, Matrix, Report, Table


def shown(report: Report) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What stands above the tables, and the tables in their order."""
    laid_out = page(report)
    figures = [_figure(one) for one in laid_out.figures]
    first = {} if laid_out.answer else figures.pop(0)
    answer = list(laid_out.answer) or [f"{first['value']} {first['label']}"]
    head = {
        "title": laid_out.title,
        "answer": answer[0],
        "about": first.get("about", ""),
        "beneath": [*answer[1:], *([laid_out.scope] if laid_out.scope else [])],
        "figures": figures,
        "notes": notes(laid_out),
    }
    return head, [_table(one) for one in laid_out.tables]


def numbered(name: str, tables: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """`more`, `more_2`, …"""
    return {f"{name}_{place}" if place > 1 else name: one for place, one in enumerate(tables, start=1)}


def notes(laid_out: Page) -> list[dict[str, str]]:
    return [_note(one) for one in laid_out.notes]


def _note(note: Assumption) -> dict[str, str]:
    return {"text": note.text, "option": note.option}


def _figure(one: Figure) -> dict[str, Any]:
    exact, roughly = figure(one)
    about = roughly.removeprefix("· ")
    return {"label": one.label, "value": exact, "about": about, "note": one.note, "segment": one.segment}


def _table(table: Table) -> dict[str, Any]:
    """Without the bars of a terminal, in whose place the page has a chart."""
    kept = [i for i, column in enumerate(table.columns) if column.unit != "stack"]
    return {
        "columns": [_column(table.columns[i]) for i in kept],
        "rows": [_row(line, table.columns, kept) for line in table.lines],
    }


def _column(column: Column) -> dict[str, str]:
    return {"label": column.label, "side": "left" if column.unit in LEFT else "right", "unit": column.unit}


def _row(line: Line, columns: tuple[Column, ...], kept: list[int]) -> dict[str, Any]:
    texts = cells(line, [column.unit for column in columns])
    return {
        "cells": [texts[i].strip() for i in kept],
        "depth": line.depth,
        "below": line.below,
        "heading": line.heading,
        "tone": line.tone,
        "notes": [text for note in line.notes for text in _beneath(note)],
    }


def _beneath(note: str | Matrix) -> list[str]:
    return [f"{note.name}:", *aligned(note)] if isinstance(note, Matrix) else [note]
