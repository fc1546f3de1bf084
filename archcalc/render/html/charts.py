"""The chart of a report on a page: the drawing, and a narrower one for phones."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from html import escape
from typing import Any

from archcalc.render.chart.drawing import Drawing
from archcalc.render.inks import Ink
from archcalc.report.base import Report
from archcalc.report.picture import says_something

PHONE = 358.0  # pixels between the margins of a phone's page
NARROWED = ("timeline", "devices", "work", "curves", "beside")  # charts that are drawn a second time for it
ZOOMED = "icicle"  # laid out anew by the script


@dataclass(frozen=True)
class Figure:
    """A drawing as an element of a page, and the colours that it uses."""

    html: str
    inks: set[Ink]
    script: bool = False  # whether the page's script has something to do


def drawn(report: Report, *wide: float) -> Drawing:
    """As wide as is usual for such a chart, or as asked for."""
    found = getattr(_drawer(report), report.chart)(report, *wide)
    assert isinstance(found, Drawing)
    return found


def is_drawn(report: Report) -> bool:
    """Whether there is a picture of it, and that shows more than its largest number."""
    if not report.chart:
        return False
    lengths = getattr(_drawer(report), "lengths", None)
    return lengths is None or says_something(lengths(report))


def _drawer(report: Report) -> Any:
    """The file of its chart: a function of that name, and `lengths`, what is drawn longer or shorter; a chart without
    these is made of words."""
    return importlib.import_module(f"archcalc.render.chart.{report.chart}")


def chart(report: Report, name: str = "", caption: str = "") -> Figure | None:
    """None where there is no picture of it. `name` tells apart those of one page."""
    if not is_drawn(report):
        return None
    name = name or report.chart
    drawing = drawn(report)
    wide, told = drawing.svg(name), caption and f"<figcaption>{escape(caption)}</figcaption>\n"
    if report.chart == ZOOMED:
        detail = '<p class="detail" aria-live="polite"></p>'
        return Figure(
            f'<figure data-zoom="">\n{told}<div class="scroll">{wide}</div>{detail}</figure>', drawing.inks, True
        )
    if report.chart in NARROWED:
        narrow = drawn(report, PHONE).svg(f"{name}-phone")
        both = f'<div class="scroll desk">{wide}</div><div class="phone">{narrow}</div>'
        return Figure(f"<figure>\n{told}{both}</figure>", drawing.inks)
    return Figure(f'<figure>\n{told}<div class="scroll">{wide}</div></figure>', drawing.inks)
