"""A report in a notebook: figures, chart, tables and assumptions as plain HTML, with every text escaped."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from html import escape

from archcalc.render.html.charts import drawn, is_drawn
from archcalc.render.html.tables import noted
from archcalc.render.page import Grid, Page, page
from archcalc.report.base import Report

INDENT = 1.5  # em for each level of a tree
ROOM = "padding:0.15em 0.6em"  # around every cell: not every notebook has a style of its own


def render(report: Report) -> str:
    return "\n".join(_blocks(report, page(report)))


def _blocks(report: Report, shown: Page) -> Iterator[str]:
    yield f"<p><b>{escape(shown.title)}</b></p>"
    yield from (
        f"<p>{escape(line)}</p>" for line in (*shown.answer, *shown.expected, shown.scope, shown.worked) if line
    )
    if shown.figures:
        rows = [
            ((each.marked, "left"), (each.human, "right"), (f"{each.digits} {each.note}", "left"))
            for each in shown.figures
        ]
        yield _table_of("".join(_cell("td", text, side) for text, side in row) for row in rows)
    if is_drawn(report):  # with its own style, under a name that no other picture of the notebook has
        drawing = drawn(report)
        yield drawing.svg(f"archcalc-{zlib.crc32(drawing.svg().encode()):08x}", alone=True)
    yield from (_table(each) for each in shown.tables)
    if shown.notes:
        yield f"<ul>{''.join(f'<li>{escape(str(note))}</li>' for note in shown.notes)}</ul>"


def _table(table: Grid) -> str:
    sides = ["left" if column.left else "right" for column in table.columns]
    rows = ["".join(_cell("th", column.label, side) for column, side in zip(table.columns, sides, strict=True))]
    for line, texts in zip(table.lines, table.texts, strict=True):
        # The name is indented by its depth, with the working beneath it; a heading is bold.
        tag = "th" if line.heading else "td"
        below = f"<br><code>{escape(line.below)}</code>" if line.below else ""
        notes = "".join(f"<br><small>{noted(note)}</small>" for note in line.notes)
        style = f"text-align:left;{ROOM};padding-left:{INDENT * line.depth + 0.6}em"
        name = f'<{tag} style="{style}">{escape(texts[0])}{below}{notes}</{tag}>'
        others = zip(texts[1:], sides[1:], strict=True)
        rows.append(name + "".join(_cell(tag, text, side) for text, side in others))
    return _table_of(rows)


def _table_of(rows: Iterable[str]) -> str:
    return f'<table style="margin:0.6em 0">{"".join(f"<tr>{row}</tr>" for row in rows)}</table>'


def _cell(tag: str, text: str, side: str) -> str:
    return f'<{tag} style="text-align:{side};{ROOM}">{escape(text.strip())}</{tag}>'
