"""A chart as a page of its own: the picture, its points as a table, and what it takes for granted."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from hashlib import sha256
from html import escape
from typing import TYPE_CHECKING

from archcalc.render.chart.curves import curves
from archcalc.render.chart.drawing import CLASS
from archcalc.render.inks import INK, MUTED, PAGE, RULE, dark_rules
from archcalc.render.page import page
from archcalc.render.words import cells
from archcalc.report.base import LEFT, Table

if TYPE_CHECKING:
    from archcalc.analyze.plot.report import PlotReport

STYLE = f"""
:root {{ color-scheme: light dark;
  --ink: {INK.light}; --muted: {MUTED.light}; --page: {PAGE.light}; --rule: {RULE.light}; }}
@media screen and (prefers-color-scheme: dark) {{
  :root {{ --ink: {INK.dark}; --muted: {MUTED.dark}; --page: {PAGE.dark}; --rule: {RULE.dark}; }} }}
body {{ margin: 0 auto; max-width: 50rem; padding: 2rem 1.25rem 4rem; color: var(--ink); background: var(--page);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }}
h1 {{ font-size: 1.35rem; line-height: 1.25; margin: 0 0 .4rem; overflow-wrap: anywhere; }}
figure {{ margin: 1.2rem 0; }}
svg {{ max-width: 100%; height: auto; }}
.scroll {{ overflow-x: auto; }}
table {{ border-collapse: collapse; margin: .8rem 0; font-variant-numeric: tabular-nums; }}
caption, summary {{ text-align: left; font-weight: 600; cursor: default; }}
summary {{ cursor: pointer; }}
th {{ color: var(--muted); font-weight: 600; }}
th, td {{ padding: .25rem .9rem .25rem 0; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--rule); }}
.left {{ text-align: left; }}
ul {{ color: var(--muted); padding-left: 1.1rem; font-size: .9rem; }}
"""


def html_page(report: PlotReport) -> str:
    return "\n".join(_lines(report)) + "\n"


def _lines(report: PlotReport) -> Iterator[str]:
    shown, drawing = page(report), curves(report, headed=False)
    style = STYLE + dark_rules(drawing.inks, CLASS)
    policy = f"default-src 'none'; style-src 'sha256-{base64.b64encode(sha256(style.encode()).digest()).decode()}'"
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{escape(shown.title)}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>"
    yield f"<h1>{escape(shown.title)}</h1>"
    yield from (f"<p>{escape(line)}</p>" for line in (*shown.answer, shown.scope) if line)
    yield f"<figure>\n{drawing.svg('chart')}</figure>"
    points, *others = shown.tables
    yield f"<details>\n<summary>The points as a table</summary>\n{_table(points)}\n</details>"
    yield from map(_table, others)
    yield f"<ul>{''.join(f'<li>{escape(str(note))}</li>' for note in shown.notes)}</ul>"
    yield "</main>\n</body>\n</html>"


def _table(table: Table) -> str:
    """Its words are those of every format that people read."""
    units = [column.unit for column in table.columns]
    sides = [' class="left"' if unit in LEFT else "" for unit in units]
    heads = "".join(
        f'<th scope="col"{side}>{escape(column.label)}</th>' for column, side in zip(table.columns, sides, strict=True)
    )
    rows = "".join(f"<tr>{_row(cells(line, units), sides)}</tr>" for line in table.lines)
    return f'<div class="scroll"><table>\n<thead><tr>{heads}</tr></thead>\n<tbody>{rows}</tbody>\n</table></div>'


def _row(texts: list[str], sides: list[str]) -> str:
    return "".join(f"<td{side}>{escape(text)}</td>" for text, side in zip(texts, sides, strict=True))
