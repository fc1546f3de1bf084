"""Reports as the page shows them: every number is text already, as a terminal shows it, and every text is escaped for
one. A number of a script has 53 bits, which parameters and FLOPs exceed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from archcalc.render.page import Amount, Grid, Page, page
from archcalc.render.words import aligned
from archcalc.report.base import Report
from archcalc.report.table import Line, Matrix


def shown(report: Report) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What stands above the tables, and the tables in their order."""
    laid_out = page(report)
    figures = [_figure(one) for one in laid_out.figures]
    first = {} if laid_out.answer or not figures else figures.pop(0)
    answer = list(laid_out.answer) or [f"{first.get('value', '')} {first.get('label', '')}".strip()]
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
    return [{"text": one.text, "option": one.option} for one in laid_out.notes]


def _figure(one: Amount) -> dict[str, Any]:
    return {
        "label": one.label,
        "value": one.exact,
        "about": one.roughly,
        "note": one.note,
        "segment": one.segment,
    }


def _table(table: Grid) -> dict[str, Any]:
    """Without the bars of a terminal, in whose place the page has a chart."""
    kept = [i for i, column in enumerate(table.columns) if column.unit != "stack"]
    sides = {True: "left", False: "right"}
    columns = [table.columns[i] for i in kept]
    rows = zip(table.lines, table.texts, strict=True)
    return {
        "columns": [{"label": one.label, "side": sides[one.left], "unit": one.unit} for one in columns],
        "rows": [_row(line, [texts[i] for i in kept]) for line, texts in rows],
    }


def _row(line: Line, texts: Sequence[str]) -> dict[str, Any]:
    return {
        "cells": [text.strip() for text in texts],
        "depth": line.depth,
        "below": line.below,
        "heading": line.heading,
        "tone": line.tone,
        "notes": [text for note in line.notes for text in _beneath(note)],
    }


def _beneath(note: str | Matrix) -> list[str]:
    return [f"{note.name}:", *aligned(note)] if isinstance(note, Matrix) else [note]
