"""The picture and its insets on one sheet: as high as it comes, or as wide as a slide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log

from archcalc.analyze.diagram.report import DiagramReport
from archcalc.render.diagram.area import Area
from archcalc.render.diagram.layout import layout
from archcalc.render.diagram.splits import TALLEST

SLIDE = 16 / 9
HEIGHTS = (TALLEST, 800.0, 600.0, 450.0, 330.0)  # of columns, from which the sheet nearest to a slide is taken
APART = 48.0


def arranged(report: DiagramReport) -> Area:
    """The smallest sheet around, or for slides the one that is nearest to their shape."""
    heights = HEIGHTS if report.landscape else (TALLEST,)
    sheets = [sheet for tallest in heights for sheet in _sheets(report, tallest)]
    return min(sheets, key=_from_a_slide if report.landscape else _around)


def _from_a_slide(sheet: Area) -> float:
    return abs(log(sheet.width / sheet.height / SLIDE))


def _around(sheet: Area) -> float:
    return sheet.width + sheet.height


def _sheets(report: DiagramReport, tallest: float) -> Iterator[Area]:
    """The picture with its insets at the right, beneath one another or in a row, or all of them beneath it."""
    picture, *insets = (layout(graph, report.label, tallest) for graph in (report.graph, *report.insets))
    for downwards in (True, False):
        beside = _joined(insets, downwards=downwards)
        yield _joined([picture, beside], downwards=False)
    yield _joined([picture, _joined(insets, downwards=False)], downwards=True)


def _joined(areas: Sequence[Area], *, downwards: bool) -> Area:
    made = Area(0.0, 0.0)
    for area in (area for area in areas if area.boxes):
        apart = APART if made.boxes else 0.0
        x, y = (0.0, made.height + apart) if downwards else (made.width + apart, 0.0)
        made.put(area, x, y)
        made.width, made.height = max(made.width, x + area.width), max(made.height, y + area.height)
    return made
