"""A report as one HTML file: answer, figures, chart, tables and notes, to mail or to put on a wiki."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from html import escape

from archcalc.core.visible import visible
from archcalc.render.html import tables
from archcalc.render.html.charts import chart
from archcalc.render.html.document import Body, document
from archcalc.render.page import Page, page
from archcalc.report.base import Report


def render(report: Report, *, width: int) -> str:
    """In characters of ASCII, so that it is the same page whatever a terminal's encoding is."""
    return _own(report) if report.page else _usual(report)


def _own(report: Report) -> str:
    made = importlib.import_module(f"archcalc.render.html.{report.page}").render(report)
    assert isinstance(made, str)
    return made


def _usual(report: Report) -> str:
    shown, picture = page(report), chart(report)
    main = "\n".join(_blocks(report, shown, picture.html if picture else ""))
    inks = picture.inks if picture else ()
    scripts = picture.scripts if picture else ()
    text = document(Body(shown.title, f"<main>\n{main}\n</main>", inks, scripts=scripts))
    return text.encode("ascii", "xmlcharrefreplace").decode()


def _blocks(report: Report, shown: Page, picture: str) -> Iterator[str]:
    name = visible(report.model)
    run = shown.title.removeprefix(name).removeprefix(" · ")
    yield f'<header>\n<p class="kind">archcalc {report.command}</p>\n<h1>{escape(name)}</h1>'
    yield f'<p class="muted">{escape(run)}</p>' if run else ""
    answer, figures = shown.answer, shown.figures
    if figures and not answer:  # then the first figure is the answer
        first, *figures = figures
        answer = [first.headline]
    yield from (f'<p class="answer">{tables.sentence(line)}</p>' for line in (*answer, *shown.expected))
    yield f'<p class="warning">{escape(shown.scope)}</p>' if shown.scope else ""
    yield "</header>"
    yield tables.figures(figures)
    yield f'<p class="working"><code>= {escape(shown.worked)}</code></p>' if shown.worked else ""
    yield picture
    yield from map(tables.table, shown.tables)
    if shown.notes:
        yield f"<section>\n<h2>Assumptions and notes</h2>\n{tables.notes(shown.notes)}\n</section>"
