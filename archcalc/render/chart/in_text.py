"""The pictures of a report in characters, for terminals."""

from __future__ import annotations

from archcalc.render.chart import text_curves, text_skyline
from archcalc.report.picture import Curves, Picture


def in_text(picture: Picture, width: int) -> list[str]:
    """Lines that are no longer than the terminal is wide."""
    if isinstance(picture, Curves):
        return text_curves.in_text(picture, width)
    return text_skyline.in_text(picture, width)
