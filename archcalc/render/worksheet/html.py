"""A worksheet as one HTML file: no other file is needed, and it prints on A4 and letter paper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from archcalc.exercises.phrases import CLOSE, OPEN
from archcalc.render.worksheet.page import Cells, Grid, Page, Part

_CODE = re.compile("`([^`]+)`")
STYLE = """
:root { color-scheme: light; --ink: #1c2230; --soft: #5b6475; --rule: #cfd5df; --tint: #f4f6f9; --accent: #1f5f8b; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 52rem; padding: 2.5rem 1.5rem 4rem; color: var(--ink); background: #fff;
  font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
header { border-bottom: 2px solid var(--accent); padding-bottom: .9rem; margin-bottom: 1.4rem; }
.kind { color: var(--accent); font-size: .8rem; font-weight: 600; letter-spacing: .12em; text-transform: uppercase; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: .15rem 0 0; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .3rem; }
.sign { display: flex; gap: 2rem; margin-top: 1.3rem; color: var(--soft); font-size: .9rem; }
.sign span { flex: 2; border-bottom: 1px solid var(--soft); padding-bottom: .1rem; }
.sign span + span { flex: 1; }
p { margin: .3rem 0 .8rem; }
.task, .notes { color: var(--soft); }
.notes { padding-inline-start: 1.2rem; margin: .8rem 0 0; }
table { border-collapse: collapse; width: 100%; }
th { color: var(--soft); font-size: .78rem; font-weight: 600; text-align: start; padding: .2rem .5rem; }
td { border-top: 1px solid var(--rule); padding: .32rem .5rem; vertical-align: top; }
td:first-child { color: var(--accent); font-weight: 600; white-space: nowrap; width: 2.6rem; }
tr { break-inside: avoid; }
.open td { height: 2.5rem; vertical-align: middle; }
.open td:nth-child(n+3) { border-inline-start: 1px solid var(--rule); }
.open td:nth-child(2) { width: 34%; }
.open td:last-child { width: 24%; background: var(--tint); }
.open.brief td:nth-child(2) { width: auto; }
.open.brief td:last-child { width: 36%; }
.solved td { font-variant-numeric: tabular-nums; }
.solved td:nth-child(2) { width: 30%; }
.solved td:nth-child(3) { color: var(--soft); font-size: .88rem; overflow-wrap: anywhere; }
.solved td:last-child { font-weight: 600; text-align: end; white-space: nowrap; }
.solved th:last-child { text-align: end; }
.givens { background: var(--tint); border: 1px solid var(--rule); font-size: .92rem; }
.givens td { padding: .14rem .7rem; border-top: 0; overflow-wrap: anywhere; }
.givens td:first-child { color: var(--ink); font-weight: 400; white-space: nowrap; width: 9rem; }
.givens td:nth-child(2) { font-weight: 600; font-variant-numeric: tabular-nums; width: 9rem; }
.givens td.long { width: auto; }
.givens td:nth-child(3) { color: var(--soft); font-size: .84rem; }
[dir="rtl"] body { line-height: 1.75;
  font-family: Vazirmatn, "Noto Naskh Arabic", "Segoe UI", Tahoma, Amiri, sans-serif; }
[dir="rtl"] .kind { letter-spacing: 0; font-size: .95rem; }
[dir="rtl"] th { font-size: .86rem; }
[dir="rtl"] code { font-size: .92em; }
@page { margin: 16mm 15mm; }
@media print {
  body { max-width: none; padding: 0; font-size: 10.5pt; }
  h2 { break-after: avoid; }
  .task { break-after: avoid; }
  thead { display: table-header-group; }
  .givens, .open td:last-child { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
}
"""


def render(page: Page) -> str:
    return "\n".join(_lines(page)) + "\n"


def _lines(page: Page) -> Iterator[str]:
    title, language = _text(page.title), page.language
    direction = f' dir="{language.direction}"' if language.direction != "ltr" else ""
    yield f'<!DOCTYPE html>\n<html lang="{language.code}"{direction}>\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{_bare(page.kind)}: {_bare(page.title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>"
    names = "".join(f"<span>{_text(language.text(key))}</span>" for key in ("name", "date"))
    sign = f'<div class="sign">{names}</div>' if page.to_sign else ""
    yield f'<header>\n<div class="kind">{_text(page.kind)}</div>\n<h1>{title}</h1>\n{sign}</header>'
    yield f"<p>{_text(page.described)}</p>"
    yield from _givens(page.givens)
    if page.conventions:
        yield f'<ul class="notes">{"".join(f"<li>{_text(line)}</li>" for line in page.conventions)}</ul>'
    for part in page.parts:
        yield from _part(part)
    yield "</body>\n</html>"


def _givens(grid: Grid) -> Iterator[str]:
    rows = "\n".join(map(_given, grid.rows))
    yield f'<table class="givens">\n<tbody>\n{rows}\n</tbody>\n</table>'


def _given(row: Cells) -> str:
    """A value without a meaning beside it has that room too."""
    name, value, meaning = row
    if meaning:
        return _row(row, "td")
    return f'<tr><td>{_cell(name)}</td><td colspan="2" class="long">{_cell(value)}</td></tr>'


def _part(part: Part) -> Iterator[str]:
    yield f'<section>\n<h2>{_text(part.title)}</h2>\n<p class="task">{_text(part.task)}</p>'
    width = " brief" if len(part.grid.heads) < 4 else ""
    yield f'<table class="{"open" if part.grid.roomy else "solved"}{width}">'
    yield f"<thead>{_row(part.grid.heads, 'th')}</thead>\n<tbody>"
    yield from (_row(row, "td") for row in part.grid.rows)
    yield "</tbody>\n</table>\n</section>"


def _row(cells: Cells, tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{_cell(cell)}</{tag}>' for cell in cells)}</tr>"


def _cell(text: str) -> str:
    return _CODE.sub(r"<code>\1</code>", _text(text)).replace("\n", "<br>")


def _text(text: str) -> str:
    """With the pieces that are read from left to right as such."""
    return escape(text).replace(OPEN, '<bdi dir="ltr">').replace(CLOSE, "</bdi>")


def _bare(text: str) -> str:
    """Without marks, where no markup may stand."""
    return escape(text.replace(OPEN, "").replace(CLOSE, ""))
