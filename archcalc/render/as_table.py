"""The terminal: the answer first, then the tree, laid out for the width there is."""

from __future__ import annotations

import textwrap
from typing import Any

from archcalc.render.style import bold, dim
from archcalc.render.words import cell, figure
from archcalc.report import Column, Figure, Line, Report, Table

BAR = 10  # columns of a full bar
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def render(report: Report, *, width: int) -> str:
    blocks = [_heading(report, width), _figures(report.figures()[1:], width), _table(report.table(), width)]
    notes = [textwrap.indent("\n".join(textwrap.wrap(note, width - 4)), "  ").replace("  ", "· ", 1) for note in report.assumptions]
    blocks.append([dim(line) for note in notes for line in note.splitlines()])
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _heading(report: Report, width: int) -> list[str]:
    title = bold(report.title())
    first = next(iter(report.figures()), None)
    worked = getattr(report, "worked", lambda: "")()
    below = [dim(f"= {line}" if i == 0 else f"  {line}") for i, line in enumerate(textwrap.wrap(worked, width - 2))]
    return [title, *([f"{bold(figure(first))} {first.label}"] if first else []), *below]


def _figures(figures: Any, width: int) -> list[str]:
    if not figures:
        return []
    label = max(len(answer.label) for answer in figures)
    return [_figure(answer, label) for answer in figures]


def _figure(answer: Figure, label: int) -> str:
    note = dim(f"  ({answer.note})") if answer.note else ""
    return f"{answer.label:<{label}}  {figure(answer)}{note}"


def _table(table: Table, width: int) -> list[str]:
    units = [column.unit for column in table.columns]
    cells = [[cell(value, unit) for value, unit in zip(line.cells, units, strict=True)] for line in table.lines]
    names = ["  " * line.depth + row[0] for line, row in zip(table.lines, cells, strict=True)]
    rows = [[name, *row[1:]] for name, row in zip(names, cells, strict=True)]
    widths = _widths(table.columns, rows, width)
    lines = [dim(_joined([column.label for column in table.columns], widths, units))]
    for line, row in zip(table.lines, rows, strict=True):
        lines.extend(_line(line, row, widths, units, width))
    return lines


def _widths(columns: tuple[Column, ...], rows: list[list[str]], width: int) -> list[int]:
    """Every column as wide as it must be; the names give way where the terminal is narrow."""
    widths = [max([len(column.label), *(len(row[i]) for row in rows)]) for i, column in enumerate(columns)]
    bar = BAR + 1 if any(column.unit == "share" for column in columns) else 0
    over = sum(widths) + 2 * (len(widths) - 1) + bar - width
    return [max(12, widths[0] - max(0, over)), *widths[1:]]


def _line(line: Line, row: list[str], widths: list[int], units: list[Any], width: int) -> list[str]:
    name = row[0] if len(row[0]) <= widths[0] else row[0][: widths[0] - 1] + "…"
    text = _joined([name, *row[1:]], widths, units)
    share = next((value for value, unit in zip(line.cells, units, strict=True) if unit == "share"), None)
    text = f"{text} {_bar(share)}".rstrip() if share is not None else text.rstrip()
    indent = "  " * (line.depth + 1)
    below = textwrap.wrap(line.below, width - len(indent) - 2, break_on_hyphens=False)
    worked = [dim(f"{indent}{'=' if i == 0 else ' '} {part}") for i, part in enumerate(below)]
    return [bold(text) if line.heading or line.depth == 0 else text, *worked]


def _joined(cells: list[str], widths: list[int], units: list[Any]) -> str:
    left = ("name", "text", "shape")
    padded = [
        f"{text:<{size}}" if unit in left else f"{text:>{size}}"
        for text, size, unit in zip(cells, widths, units, strict=True)
    ]
    return "  ".join(padded).rstrip()


def _bar(share: float) -> str:
    eighths = round(min(share, 1) * BAR * 8)
    full, rest = divmod(eighths, 8)
    return "█" * full + (_EIGHTHS[rest] if rest else "")
