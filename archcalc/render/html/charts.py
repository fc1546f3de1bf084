"""The chart of a report on a page: the drawing, a narrower one for phones, and the scripts that it needs."""

from __future__ import annotations

import importlib
import json
from dataclasses import dataclass
from html import escape
from typing import Any

from archcalc.analyze.memory.report import MemoryReport
from archcalc.render.chart.drawing import Drawing
from archcalc.render.html import scrubber
from archcalc.render.inks import Ink
from archcalc.report.base import Report
from archcalc.report.picture import says_something

PHONE = 358.0  # pixels between the margins of a phone's page
NARROWED = ("timeline", "devices", "work", "curves", "beside", "matrix")  # drawn a second time for it
ZOOMED = "icicle"  # laid out anew by its script
ANSWERING = "matrix"  # whose cells answer a click, and follow a slider
SCRIPTS = {ZOOMED: ("report.js",), ANSWERING: ("matrix.js",)}


@dataclass(frozen=True)
class Figure:
    """A drawing as an element of a page, and the colours that it uses."""

    html: str
    inks: set[Ink]
    scripts: tuple[str, ...] = ()  # that have something to do


def drawn(report: Report, *wide: float) -> Drawing:
    """As wide as is usual for such a chart, or as asked for."""
    found = getattr(_drawer(report), report.chart)(report, *wide)
    assert isinstance(found, Drawing)
    return found


def is_drawn(report: Report) -> bool:
    """Whether there is a picture of it; one of lengths has to show more than its largest number."""
    if not report.chart:
        return False
    lengths = getattr(_drawer(report), "lengths", None)
    return lengths is None or says_something(lengths(report))


def _drawer(report: Report) -> Any:
    """The file of its chart: a function of that name, and, of a picture of lengths, `lengths`: what is drawn longer or
    shorter."""
    return importlib.import_module(f"archcalc.render.chart.{report.chart}")


def chart(report: Report, name: str = "", caption: str = "") -> Figure | None:
    """None where there is no picture of it. `name` tells apart those of one page."""
    stepped = _stepped(report)
    if not (is_drawn(report) or (stepped and stepped.timeline)):  # of a flat one what comes and goes is drawn
        return None
    name = name or report.chart
    drawing = drawn(report)
    wide, told = drawing.svg(name), caption and f"<figcaption>{escape(caption)}</figcaption>\n"
    if report.chart == ZOOMED:
        detail = '<p class="detail" aria-live="polite"></p>'
        zoomed = f'<figure data-zoom="">\n{told}<div class="scroll">{wide}</div>{detail}</figure>'
        return Figure(zoomed, drawing.inks, SCRIPTS[ZOOMED])
    if stepped:
        return Figure(scrubber.figure(stepped, wide), drawing.inks, scrubber.SCRIPTS)
    if report.chart in NARROWED:
        narrow = drawn(report, PHONE).svg(f"{name}-phone")
        both = f'<div class="scroll desk">{wide}</div><div class="phone">{narrow}</div>'
        scripts = SCRIPTS.get(report.chart, ())
        return Figure(f"<figure{_for_script(report)}>\n{told}{both}</figure>", drawing.inks, scripts)
    return Figure(f'<figure>\n{told}<div class="scroll">{wide}</div></figure>', drawing.inks)


def _stepped(report: Report) -> MemoryReport | None:
    """A report that knows its step op by op."""
    return report if isinstance(report, MemoryReport) and scrubber.has_ops(report) else None


def _for_script(report: Report) -> str:
    """What the script has to know of the cells."""
    if report.chart != ANSWERING:
        return ""
    written = json.dumps(cells(report), separators=(",", ":"), ensure_ascii=False)
    quoted = escape(written, quote=False).replace("'", "&#39;")  # it has many double quotes
    return f" data-matrix='{quoted}'"


def cells(report: Report) -> dict[str, Any]:
    """Of a report whose cells answer."""
    found: dict[str, Any] = _drawer(report).cells(report)
    return found
