"""A worksheet as one HTML file: no other file is needed, and it prints on A4 and letter paper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from importlib.resources import files

from archcalc.exercises.phrases import CLOSE, OPEN
from archcalc.render.chart.drawing import attributes
from archcalc.render.worksheet.page import Cells, Page, Part

_CODE = re.compile("`([^`]+)`")


def render(page: Page) -> str:
    return "\n".join(_lines(page)) + "\n"


def _lines(page: Page) -> Iterator[str]:
    title, language = _text(page.title), page.language
    style = files(__package__).joinpath("worksheet.css").read_text("utf-8")
    direction = attributes(dir=language.direction != "ltr" and language.direction)
    yield f'<!DOCTYPE html>\n<html lang="{language.code}"{direction}>\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{_bare(page.kind)}: {_bare(page.title)}</title>\n<style>\n{style}</style>\n</head>\n<body>"
    head = f'<header>\n<div class="kind">{_text(page.kind)}</div>\n<h1>{title}</h1>\n'
    if page.to_sign:
        names = "".join(f"<span>{_text(language.text(key))}</span>" for key in ("name", "date"))
        head += f'<div class="sign">{names}</div>'
    yield f"{head}</header>"
    yield f"<p>{_text(page.described)}</p>"
    rows = "\n".join(map(_given, page.givens.rows))
    yield f'<table class="givens">\n<tbody>\n{rows}\n</tbody>\n</table>'
    if page.conventions:
        yield f'<ul class="notes">{"".join(f"<li>{_text(line)}</li>" for line in page.conventions)}</ul>'
    for part in page.parts:
        yield from _part(part)
    yield "</body>\n</html>"


def _given(row: Cells) -> str:
    """A value without a meaning beside it has that room too."""
    name, value, meaning = row
    if meaning:
        return _row(row, "td")
    return f'<tr><td>{_cell(name)}</td><td colspan="2" class="long">{_cell(value)}</td></tr>'


def _part(part: Part) -> Iterator[str]:
    yield f'<section>\n<h2>{_text(part.title)}</h2>\n<p class="task">{_text(part.task)}</p>'
    kind = "open" if part.grid.roomy else "solved"
    if len(part.grid.heads) < 4:
        kind += " brief"
    yield f'<table class="{kind}">'
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
