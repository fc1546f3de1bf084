"""The types of file that a diagram can be written as, by suffix, and those that can be printed."""

from __future__ import annotations

from collections.abc import Callable

from archcalc.analyze.diagram.report import DiagramReport
from archcalc.render import as_json, images
from archcalc.render.diagram import mermaid, svg

USUAL = "mermaid"


PRINTED: dict[str, Callable[[DiagramReport], str]] = {
    USUAL: mermaid.render,
    "svg": svg.render,
    "markdown": mermaid.in_markdown,
    "json": lambda report: as_json.render(report, width=80) + "\n",
}
WRITTEN: dict[str, Callable[[DiagramReport], str | bytes]] = {
    ".svg": svg.render,
    ".mmd": mermaid.render,
    ".md": mermaid.in_markdown,
    ".png": lambda report: images.png(svg.render(report)),
    ".pdf": lambda report: images.pdf(svg.render(report)),
    ".json": PRINTED["json"],
}
