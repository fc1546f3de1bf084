"""The types of file that a chart can be written as, by suffix."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from archcalc.render import render

if TYPE_CHECKING:
    from archcalc.analyze.plot.report import PlotReport


def written(report: PlotReport, suffix: str) -> str | bytes:
    return WRITTEN[suffix](report)


def _svg(report: PlotReport) -> str:
    from archcalc.render.chart.curves import curves

    return curves(report, headed=True).svg()


def _png(report: PlotReport) -> bytes:
    from archcalc.render.images import png

    return png(_svg(report))


def _pdf(report: PlotReport) -> bytes:
    from archcalc.render.images import pdf

    return pdf(_svg(report))


def _as(format: str) -> Callable[[PlotReport], str]:
    return lambda report: render(report, format) + "\n"


WRITTEN: dict[str, Callable[[PlotReport], str | bytes]] = {
    ".svg": _svg,
    ".html": _as("html"),
    ".png": _png,
    ".pdf": _pdf,
    ".csv": _as("csv"),
    ".json": _as("json"),
    ".md": _as("markdown"),
}
