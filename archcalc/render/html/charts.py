"""The chart of a report on a page: the drawing, a narrower one for phones, and the scripts that it needs."""

from __future__ import annotations

import importlib
from dataclasses import dataclass

from archcalc.analyze.memory.report import MemoryReport
from archcalc.render.chart.drawing import Drawing
from archcalc.render.html import scrubber
from archcalc.render.inks import Ink
from archcalc.report.base import Report

PHONE = 358.0  # pixels between the margins of a phone's page
NARROWED = ("timeline", "devices", "work", "curves")  # charts that are drawn a second time for it
ZOOMED = "icicle"  # laid out anew by its script
SCRIPT = "report.js"


@dataclass(frozen=True)
class Figure:
    """A drawing as an element of a page, and the colours that it uses."""

    html: str
    inks: set[Ink]
    scripts: tuple[str, ...] = ()  # that have something to do


def drawn(report: Report, *wide: float) -> Drawing:
    """As wide as is usual for such a chart, or as asked for."""
    draw = getattr(importlib.import_module(f"archcalc.render.chart.{report.chart}"), report.chart)
    found = draw(report, *wide)
    assert isinstance(found, Drawing)
    return found


def chart(report: Report, name: str = "") -> Figure | None:
    """None where there is no picture of it. `name` tells apart those of one page."""
    if not report.chart:
        return None
    name = name or report.chart
    drawing = drawn(report)
    wide = drawing.svg(name)
    if report.chart == ZOOMED:
        detail = '<p class="detail" aria-live="polite"></p>'
        return Figure(
            f'<figure data-zoom="">\n<div class="scroll">{wide}</div>{detail}</figure>', drawing.inks, (SCRIPT,)
        )
    if isinstance(report, MemoryReport) and scrubber.has_ops(report):
        return Figure(scrubber.figure(report, wide), drawing.inks, scrubber.SCRIPTS)
    if report.chart in NARROWED:
        narrow = drawn(report, PHONE).svg(f"{name}-phone")
        both = f'<div class="scroll desk">{wide}</div><div class="phone">{narrow}</div>'
        return Figure(f"<figure>\n{both}</figure>", drawing.inks)
    return Figure(f'<figure>\n<div class="scroll">{wide}</div></figure>', drawing.inks)
