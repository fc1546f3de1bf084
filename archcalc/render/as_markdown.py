"""Markdown: figures as a list, then the table, for notes and pull requests."""

from __future__ import annotations

from collections.abc import Sequence

from archcalc.render.words import cell, figure
from archcalc.report import Line, Report, Table


def render(report: Report, *, width: int) -> str:
    answers = [f"- **{answer.label}**: {' '.join(figure(answer)).strip()}" for answer in report.figures()]
    notes = [f"- {note}" for note in report.assumptions]
    blocks = [
        [f"### {report.title()}"],
        [report.answer()] if report.answer() else [],
        answers,
        *(_table(table) for table in (report.table(), *report.more())),
        notes,
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _table(table: Table) -> list[str]:
    units = [column.unit for column in table.columns]
    rule = [":---" if unit in ("name", "text", "shape") else "---:" for unit in units]
    heads = [column.label for column in table.columns]
    return [_row(heads), _row(rule), *(_row(_cells(line, units)) for line in table.lines)]


def _cells(line: Line, units: Sequence[str]) -> list[str]:
    cells = [cell(value, unit) for value, unit in zip(line.cells, units, strict=True)]
    below = f"<br>`{line.below}`" if line.below else ""
    return ["&emsp;" * line.depth + cells[0].replace("|", "\\|") + below, *cells[1:]]


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
