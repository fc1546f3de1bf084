"""The chart of a report on a page: the drawing, and a narrower one for phones."""

from __future__ import annotations

import importlib
import json
from dataclasses import dataclass
from html import escape
from typing import Any

from archcalc.render.chart.drawing import Drawing
from archcalc.render.inks import Ink
from archcalc.report.base import Report

PHONE = 358.0  # pixels between the margins of a phone's page
NARROWED = ("timeline", "devices", "work", "curves")  # charts that are drawn a second time for it
ZOOMED = "icicle"  # laid out anew by the script
ANSWERING = "matrix"  # whose cells answer a click, and follow a slider
SCRIPTS = {ZOOMED: "report.js", ANSWERING: "matrix.js"}


@dataclass(frozen=True)
class Figure:
    """A drawing as an element of a page, and the colours that it uses."""

    html: str
    inks: set[Ink]
    script: bool = False  # whether the page's script has something to do


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
        return Figure(f'<figure data-zoom="">\n<div class="scroll">{wide}</div>{detail}</figure>', drawing.inks, True)
    if report.chart in NARROWED or report.chart == ANSWERING:
        narrow = drawn(report, PHONE).svg(f"{name}-phone")
        both = f'<div class="scroll desk">{wide}</div><div class="phone">{narrow}</div>'
        return Figure(f"<figure{_told(report)}>\n{both}</figure>", drawing.inks, report.chart == ANSWERING)
    return Figure(f'<figure>\n<div class="scroll">{wide}</div></figure>', drawing.inks)


def _told(report: Report) -> str:
    """What the script has to know of the cells."""
    if report.chart != ANSWERING:
        return ""
    return f' data-matrix="{escape(json.dumps(cells(report), separators=(",", ":"), ensure_ascii=False))}"'


def cells(report: Report) -> dict[str, Any]:
    """Of a report whose cells answer."""
    found: dict[str, Any] = importlib.import_module(f"archcalc.render.chart.{report.chart}").cells(report)
    return found
