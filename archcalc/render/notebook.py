"""A report in a notebook: figures, chart, tables and assumptions as plain HTML, with every text escaped."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from html import escape

from archcalc.render.html.charts import drawn
from archcalc.render.page import Page, page
from archcalc.render.words import aligned, cells, figure, label
from archcalc.report.base import LEFT, Column, Figure, Line, Matrix, Report, Table

INDENT = 1.5  # em for each level of a tree
ROOM = "padding:0.15em 0.6em"  # around every cell: not every notebook has a style of its own


def render(report: Report) -> str:
    return "\n".join(_blocks(page(report), _picture(report)))


def _picture(report: Report) -> str:
    """With its own style, under a name that no other picture of the notebook has."""
    if not report.chart:
        return ""
    drawing = drawn(report)
    name = f"archcalc-{zlib.crc32(drawing.svg().encode()):08x}"
    return drawing.svg(name, alone=True)


def _blocks(shown: Page, picture: str) -> Iterator[str]:
    yield f"<p><b>{escape(shown.title)}</b></p>"
    yield from (
        f"<p>{escape(line)}</p>" for line in (*shown.answer, *shown.expected, shown.scope, shown.worked) if line
    )
    if shown.figures:
        yield _table_of(_figure(each) for each in shown.figures)
    yield from [picture] if picture else []
    yield from (_table(each) for each in shown.tables)
    if shown.notes:
        yield f"<ul>{''.join(f'<li>{escape(str(note))}</li>' for note in shown.notes)}</ul>"


def _figure(each: Figure) -> str:
    exact, roughly = figure(each)
    words = ((label(each), "left"), (exact, "right"), (f"{roughly} {each.note}", "left"))
    return "".join(_cell("td", text, side) for text, side in words)


def _table(table: Table) -> str:
    sides = [_side(column) for column in table.columns]
    heads = "".join(_cell("th", column.label, side) for column, side in zip(table.columns, sides, strict=True))
    return _table_of([heads, *(_line(line, table.columns) for line in table.lines)])


def _table_of(rows: Iterable[str]) -> str:
    return f'<table style="margin:0.6em 0">{"".join(f"<tr>{row}</tr>" for row in rows)}</table>'


def _line(line: Line, columns: tuple[Column, ...]) -> str:
    """The name is indented by its depth, with the working beneath it; a heading is bold."""
    tag = "th" if line.heading else "td"
    texts = cells(line, [column.unit for column in columns])
    below = f"<br><code>{escape(line.below)}</code>" if line.below else ""
    notes = "".join(f"<br><small>{_note(note)}</small>" for note in line.notes)
    style = f"text-align:left;{ROOM};padding-left:{INDENT * line.depth + 0.6}em"
    name = f'<{tag} style="{style}">{escape(texts[0])}{below}{notes}</{tag}>'
    rest = zip(texts[1:], columns[1:], strict=True)
    return name + "".join(_cell(tag, text, _side(column)) for text, column in rest)


def _note(note: str | Matrix) -> str:
    if isinstance(note, Matrix):
        return f"{escape(note.name)}:<pre>{escape(chr(10).join(aligned(note)))}</pre>"
    return escape(note)


def _cell(tag: str, text: str, side: str) -> str:
    return f'<{tag} style="text-align:{side};{ROOM}">{escape(text.strip())}</{tag}>'


def _side(column: Column) -> str:
    return "left" if column.unit in LEFT else "right"
