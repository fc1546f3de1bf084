"""A diagram on a page: in a frame that zooms, with its caption, and as a page of its own."""

from __future__ import annotations

from html import escape

from archcalc.analyze.diagram.report import DiagramReport
from archcalc.core.visible import visible
from archcalc.render.diagram import svg
from archcalc.render.html.document import Body, document

SCRIPT = "diagram.js"
CAPTION = "In boxes: parameters; at arrows: the shape of every tensor. What repeats is drawn once."


def figure(report: DiagramReport) -> str:
    """The element; its style and its script are the page's."""
    drawn = svg.render(report, "diagram")
    caption = f"<figcaption>{escape(CAPTION)}</figcaption>"
    label = 'tabindex="0" role="group" aria-label="Diagram: + and − zoom, 0 fits it, arrow keys move"'
    return f'<figure>\n{caption}\n<div class="diagram" {label}>{drawn}</div></figure>'


def render(report: DiagramReport) -> str:
    title = visible(report.title())
    head = f'<header>\n<p class="kind">archcalc diagram</p>\n<h1>{escape(title)}</h1>\n</header>'
    main = f"<main>\n{head}\n{figure(report)}\n</main>"
    style = f"{svg.style()}\nbody {{ max-width: 100rem; }} .diagram {{ max-height: 80vh; }}"
    page = document(Body(title, main, style=style, scripts=(SCRIPT,)))
    return page.encode("ascii", "xmlcharrefreplace").decode()
