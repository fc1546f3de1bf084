"""The types of file that a diagram can be written as, by suffix, and those that can be printed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from archcalc.analyze.diagram.report import DiagramReport

USUAL = "mermaid"


def printed(report: DiagramReport, format: str) -> str:
    return PRINTED[format](report)


def written(report: DiagramReport, suffix: str) -> str | bytes:
    return WRITTEN[suffix](report)


def _svg(report: DiagramReport) -> str:
    from archcalc.render.diagram.svg import render

    return render(report)


def _mermaid(report: DiagramReport) -> str:
    from archcalc.render.diagram.mermaid import render

    return render(report)


def _markdown(report: DiagramReport) -> str:
    from archcalc.render.diagram.mermaid import in_markdown

    return in_markdown(report)


def _json(report: DiagramReport) -> str:
    from archcalc.render.as_json import render

    return render(report, width=80) + "\n"


def _png(report: DiagramReport) -> bytes:
    from archcalc.render.images import png

    return png(_svg(report))


def _pdf(report: DiagramReport) -> bytes:
    from archcalc.render.images import pdf

    return pdf(_svg(report))


PRINTED: dict[str, Callable[[DiagramReport], str]] = {
    USUAL: _mermaid,
    "svg": _svg,
    "markdown": _markdown,
    "json": _json,
}
WRITTEN: dict[str, Callable[[DiagramReport], str | bytes]] = {
    ".svg": _svg,
    ".mmd": _mermaid,
    ".md": _markdown,
    ".png": _png,
    ".pdf": _pdf,
    ".json": _json,
}
