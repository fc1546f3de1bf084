"""Markdown: figures as a list, then the table, for notes and pull requests."""

from __future__ import annotations

import re
from collections.abc import Sequence

from archcalc.render.page import Grid, entries, page
from archcalc.report.base import Report
from archcalc.report.table import Matrix

_MARKS = re.compile(r"[\\`*|\[\]]|<(?=[A-Za-z/!?])|(?<!\w)_|_(?!\w)")  # an underscore within a word marks nothing
_MARKUP = re.compile(r"[|\[\]]|<(?=[A-Za-z/!?])")  # in sentences, which quote `commands`


def render(report: Report, *, width: int) -> str:
    shown = page(report)
    lines = []
    for each in shown.figures:
        note = f" ({_sentence(each.note)})" if each.note else ""
        lines.append(f"- **{_plain(each.marked)}**: {each.quantity}{note}")
    if shown.worked:  # the answer first, with its working
        lines.insert(1, f"  `= {_unquoted(shown.worked)}`")
    blocks = [
        [f"### {_plain(shown.title)}"],
        _lines(shown.answer),
        _lines(shown.expected),
        [f"**{_sentence(shown.scope)}**"] if shown.scope else [],
        lines,
        *(_table(table) for table in shown.tables),
        [f"- {_sentence(str(note))}" for note in shown.notes],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _lines(lines: Sequence[str]) -> list[str]:
    """Sentences beneath each other, in one paragraph."""
    return ["  \n".join(map(_sentence, lines))] if lines else []


def _table(table: Grid) -> list[str]:
    rule = [":---" if column.left else "---:" for column in table.columns]
    rows = [_row([_plain(column.label) for column in table.columns]), _row(rule)]
    for line, texts in zip(table.lines, table.texts, strict=True):
        first, *rest = map(_plain, texts)
        code = _unquoted(line.below).replace("|", "\\|")  # between backticks, in a table
        below = f"<br>`{code}`" if line.below else ""
        notes = "".join(f"<br>{_note(note)}" for note in line.notes)
        rows.append(_row(["&emsp;" * line.depth + first + below + notes, *rest]))
    return rows


def _note(note: str | Matrix) -> str:
    if isinstance(note, Matrix):
        return "<br>".join([f"{_plain(note.name)}:", *(f"`{' '.join(row)}`" for row in entries(note))])
    return _plain(note)


def _plain(text: str) -> str:
    """Nothing in a name is taken for markup."""
    return _MARKS.sub(lambda found: f"\\{found[0]}", text)


def _sentence(text: str) -> str:
    return _MARKUP.sub(lambda found: f"\\{found[0]}", text)


def _unquoted(text: str) -> str:
    """Between backticks."""
    return text.replace("`", "'")


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
