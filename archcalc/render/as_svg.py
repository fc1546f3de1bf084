"""The chart of a report as a picture of its own: where parameters are, memory over a step, devices, curves."""

from __future__ import annotations

from archcalc.core.errors import InputError
from archcalc.render.chart.drawing import Drawing
from archcalc.render.html.charts import drawn
from archcalc.render.inks import MUTED
from archcalc.render.text_width import shortened
from archcalc.report.base import Report

HEAD, MARGIN = 56, 20  # room for the title above it, and around it
LARGE, USUAL = 15, 12


def render(report: Report, *, width: int) -> str:
    if not report.chart:
        hint = "choose another format, such as html"
        raise InputError(f"there is no picture of what `archcalc {report.command}` answers", hint, field="--format")
    return headed(report, drawn(report)).svg().rstrip("\n")


def headed(report: Report, picture: Drawing) -> Drawing:
    """With the name of the model and the question above it."""
    wide, high = picture.width + 2 * MARGIN, picture.height + HEAD + MARGIN
    made = Drawing(wide, high, picture.title, picture.described, inks=set(picture.inks))
    room = picture.width
    made.text(shortened(report.model, LARGE, room, bold=True), MARGIN, 22, size=LARGE, bold=True)
    about = report.title().removeprefix(report.model).removeprefix(" · ")
    made.text(shortened(about, USUAL, room), MARGIN, 42, ink=MUTED)
    made.open(marks={"transform": f"translate({MARGIN} {HEAD})"})
    made.parts += picture.parts
    made.close()
    return made
