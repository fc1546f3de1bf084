"""Figures, tables and notes of a report as HTML. Every text is escaped here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from archcalc.core.assumptions import Assumption
from archcalc.core.visible import visible
from archcalc.render.page import Amount, Grid, aligned
from archcalc.report.table import Column, Line, Matrix
from archcalc.spec.units import binary_bytes

DEEPEST = 8  # levels of indentation that the style sheet has
_CODE = re.compile("`([^`]+)`")
_OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]*)")


def table(shown: Grid, most: int | None = None, more: str = "") -> str:
    """With `most` lines at the most; `more` says where to find the rest."""
    kept = list(zip(shown.lines, shown.texts, strict=True))[:most]
    heads = "".join(f'<th scope="col"{_side(column)}>{escape(column.label)}</th>' for column in shown.columns)
    rows = "\n".join(_line(line, texts, shown.columns) for line, texts in kept)
    left_out = len(shown.lines) - len(kept)
    made = f'<div class="scroll"><table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>'
    if left_out:
        made += f'\n<p class="muted">{left_out:,} more lines: {sentence(more)}</p>'
    return made


def _side(column: Column[Any]) -> str:
    """Numbers stand at the right; so does a bar, of which its sum is written."""
    return "" if column.left and column.unit != "stack" else ' class="n"'


def _line(line: Line, texts: Sequence[str], columns: Sequence[Column[Any]]) -> str:
    """Its name is indented by its depth, with the working beneath; bold where it groups the lines under it."""
    below = line.below and f"<br><code>{escape(line.below)}</code>"
    notes = "".join(f"<br><small>{noted(note)}</small>" for note in line.notes)
    named = f"d{min(line.depth, DEEPEST)}{' group' if line.heading else ''}"
    name = f'<th scope="row" class="{named}">{escape(texts[0])}{below}{notes}</th>'
    cells = "".join(map(_cell, line.cells[1:], texts[1:], columns[1:]))
    toned = f' class="{line.tone}"' if line.tone else ""
    return f"<tr{toned}>{name}{cells}</tr>"


def _cell(value: object, text: str, column: Column[Any]) -> str:
    if column.unit == "share" and isinstance(value, float):
        wide = min(max(value, 0.0), 1.0) * 60
        bar = f'<svg width="60" height="8" aria-hidden="true"><rect width="{wide:.3g}" height="8"/></svg>'
        return f'<td class="n share">{escape(text)}{bar}</td>'
    if column.unit == "stack" and isinstance(value, tuple):
        text = binary_bytes(sum(value[0]))
    return f"<td{_side(column)}>{escape(text.strip())}</td>"


def noted(note: str | Matrix) -> str:
    if isinstance(note, Matrix):
        return f"{escape(note.name)}:<pre>{escape(chr(10).join(aligned(note)))}</pre>"
    return escape(note)


def figures(shown: Iterable[Amount]) -> str:
    """What a value comes to, and all of its digits."""
    rows = ""
    for each in shown:
        about = " · ".join(part for part in (each.digits, each.note) if part)
        number = f'<td class="n">{escape(each.human)}</td><td class="muted">{escape(about)}</td>'
        rows += f'<tr><th scope="row" class="d0">{escape(each.label)}</th>{number}</tr>\n'
    return rows and f'<div class="scroll"><table class="figures">\n<tbody>\n{rows}</tbody></table></div>'


def notes(shown: Iterable[Assumption]) -> str:
    """A sentence each."""
    listed = "\n".join(f"<li>{sentence(visible(str(note)))}</li>" for note in shown)
    return listed and f'<ul class="notes">\n{listed}\n</ul>'


def sentence(text: str) -> str:
    """With options and `commands` as code."""
    quoted = _CODE.sub(r"<code>\1</code>", escape(text))
    return quoted if "<code>" in quoted else _OPTION.sub(r"<code>\1</code>", quoted)
