"""A tensor as a box. Every side is as long as the square root of its size, on one scale for a whole walk.

So 150,000 and 1 stand on one page, and what is four times as many is twice as long.

The face has rows and columns. Behind it the depth goes back at a third of its length, as in cabinet drawings; equal
copies (heads, experts) are sheets one behind the other instead, at most eight of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

from archcalc.analyze.walk.report import Row
from archcalc.analyze.walk.sides import Box, Side

Point = tuple[float, float]
SCALE = "sides drawn to scale: a side is as long as the square root of its size, depth at a third of that"
SHEETS, APART = 8, 1.4  # how many sheets are drawn, and how far apart
BACK = 0.33
MOST = 5  # tensors besides the factors of a product that are drawn


@dataclass(frozen=True)
class Solid:
    """Its areas, the farthest first, and the lines that divide its face. In units of the scale: a side of 1 is 1."""

    width: float
    height: float
    areas: tuple[tuple[str, tuple[Point, ...]], ...]  # which: face, top, side or sheet
    lines: tuple[tuple[Point, ...], ...]


def solid(box: Box) -> Solid:
    wide, high = sqrt(box.columns.size), sqrt(box.rows.size)
    if box.depth.is_copies:
        behind = min(box.depth.size, SHEETS) - 1
        back = behind * APART
        areas = [("sheet", _face(APART * n, back - APART * n, wide, high)) for n in range(behind, 0, -1)]
    else:
        back = sqrt(box.depth.size) * BACK if box.depth.size > 1 else 0.0
        areas = _sides(back, wide, high) if back else []
    face = _face(0, back, wide, high)
    lines = (*_columns(box.columns, back, wide, high), *_rows(box.rows, back, wide, high))
    return Solid(wide + back, high + back, (*areas, ("face", face)), lines)


def _face(x: float, y: float, wide: float, high: float) -> tuple[Point, ...]:
    return (x, y), (x + wide, y), (x + wide, y + high), (x, y + high)


def _sides(back: float, wide: float, high: float) -> list[tuple[str, tuple[Point, ...]]]:
    top = (0.0, back), (back, 0.0), (wide + back, 0.0), (wide, back)
    side = (wide, back), (wide + back, 0.0), (wide + back, high), (wide, high + back)
    return [("top", top), ("side", side)]


def _columns(side: Side, y: float, wide: float, high: float) -> Iterator[tuple[Point, ...]]:
    for part in range(1, side.parts):
        x = wide * part / side.parts
        yield (x, y), (x, y + high)


def _rows(side: Side, y: float, wide: float, high: float) -> Iterator[tuple[Point, ...]]:
    for part in range(1, side.parts):
        down = y + high * part / side.parts
        yield (0, down), (wide, down)


def extent(row: Row) -> Point:
    """How wide and how high a step is: the factors of a product beside and above the result, all else in a row."""
    boxes = [solid(each.box) for each in (*row.pair, *row.besides[:MOST], *filter(None, [row.output]))]
    if not boxes:
        return 0, 0
    if row.pair:
        first, second, *others = boxes
        wide = max(each.width for each in (second, *others[-1:]))
        return first.width + wide, second.height + max(each.height for each in (first, *others[-1:]))
    return sum(each.width for each in boxes), max(each.height for each in boxes)
