"""The chart of a report as a picture of its own: where parameters are, memory over a step, devices, curves."""

from __future__ import annotations

from archcalc.core.errors import InputError
from archcalc.render.chart.drawing import Drawing
from archcalc.render.html.charts import drawn, is_drawn
from archcalc.render.inks import MUTED
from archcalc.render.text_width import shortened
from archcalc.report.base import Report

HEAD, MARGIN = 56, 20  # room for the title above it, and around it
LARGE, USUAL = 15, 12


def render(report: Report, *, width: int) -> str:
    """With the name of the model and the question above it."""
    if not report.chart:
        hint = "choose another format, such as html"
        raise InputError(f"there is no picture of what `archcalc {report.command}` answers", hint, field="--format")
    if not is_drawn(report):
        hint = "choose another format, such as html"
        raise InputError("a picture of it would show nothing: its values are all alike", hint, field="--format")
    picture = drawn(report)
    room, high = picture.width, picture.height + HEAD + MARGIN
    made = Drawing(room + 2 * MARGIN, high, picture.title, picture.described, inks=set(picture.inks))
    made.text(shortened(report.caption(), LARGE, room, bold=True), MARGIN, 22, size=LARGE, bold=True)
    about = report.title().removeprefix(report.model).removeprefix(" · ") or report.answer()
    made.text(shortened(about, USUAL, room), MARGIN, 42, ink=MUTED)
    made.open(marks={"transform": f"translate({MARGIN} {HEAD})"})
    made.parts += picture.parts
    made.close()
    return made.svg().rstrip("\n")
