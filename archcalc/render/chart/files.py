"""The types of file that a chart can be written as, by suffix."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from archcalc.render import images, render

if TYPE_CHECKING:
    from archcalc.analyze.plot.report import PlotReport


def _as(format: str) -> Callable[[PlotReport], str]:
    return lambda report: render(report, format) + "\n"


WRITTEN: dict[str, Callable[[PlotReport], str | bytes]] = {
    ".svg": _as("svg"),
    ".html": _as("html"),
    ".png": lambda report: images.png(render(report, "svg")),
    ".pdf": lambda report: images.pdf(render(report, "svg")),
    ".csv": _as("csv"),
    ".json": _as("json"),
    ".md": _as("markdown"),
}
