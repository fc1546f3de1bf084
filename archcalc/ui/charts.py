"""Charts as elements of the page: archcalc's own drawings, in which every text is escaped."""

from __future__ import annotations

from archcalc.core.errors import InputError
from archcalc.render.html.charts import drawn
from archcalc.report.base import Report
from archcalc.ui.reading import Question

NARROWEST, WIDEST = 280, 1200  # pixels
LAID_OUT = "icicle"  # as wide as there is room, by its script


def chart(question: Question, report: Report) -> dict[str, str]:
    """The drawing of a report by its name, as wide as the page wants it; ids begin with the name."""
    wide = [] if report.chart == LAID_OUT else _wide(question)
    return {report.chart: drawn(report, *wide).svg(report.chart)}


def _wide(question: Question) -> list[float]:
    """Nothing where no width is asked for."""
    found = question.asked.get("wide")
    if found is None:
        return []
    if isinstance(found, bool) or not isinstance(found, int | float) or not NARROWEST <= found <= WIDEST:
        raise InputError(f"expected a width from {NARROWEST} to {WIDEST} pixels", field="wide")
    return [float(found)]
