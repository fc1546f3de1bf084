"""What the colours of a chart stand for, and those of the parts of memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from archcalc.render.chart.drawing import Drawing
from archcalc.render.inks import MUTED, SERIES, Ink
from archcalc.render.text_width import width

ROW = 22.0
KEY = 12.0  # the side of a coloured square
SIZE = 12.0
_INKS = {ink.name: ink for ink in SERIES}
# From the ground up: what is there all the time stands at the bottom, so that what comes and goes is seen on top of it.
_COLOURS = {
    "weights": "blue",
    "adapters": "sky",
    "draft": "sky",
    "reference": "sky",
    "rollout": "sky",
    "master": "sky",
    "optimizer": "purple",
    "overhead": "grey",
    "buffers": "grey",
    "kv_cache": "orange",
    "state": "orange",
    "draft_cache": "yellow",
    "rollout_cache": "yellow",
    "gradients": "orange",
    "activations": "green",
    "logits": "vermilion",
    "temporary": "yellow",
}
ORDER = tuple(_COLOURS)


class Entry(NamedTuple):
    """Without an ink, the chart itself draws what stands before the words."""

    ink: Ink | None
    words: str
    edge: Ink | None = None


class Placed(NamedTuple):
    entry: Entry
    x: float
    y: float


def placed(entries: Iterable[Entry], x: float, y: float, wide: float) -> list[Placed]:
    """In rows from left to right, as many as it takes."""
    found: list[Placed] = []
    at, row = x, y
    for entry in entries:
        needed = KEY + 7 + width(entry.words, SIZE) + 16
        if at > x and at + needed - 16 > x + wide:
            at, row = x, row + ROW
        found.append(Placed(entry, at, row))
        at += needed
    return found


def height(places: list[Placed]) -> float:
    if not places:
        return 0.0
    return places[-1].y - places[0].y + ROW


def draw(drawing: Drawing, places: Iterable[Placed]) -> None:
    """A group for each, so that a page may lay them out anew."""
    for entry, x, y in places:
        drawing.open(marks={"data-key": entry.words})
        if entry.ink:
            drawing.rectangle(x, y - KEY / 2, KEY, KEY, entry.ink, radius=2, edge=entry.edge)
        drawing.text(entry.words, x + KEY + 7, y, size=SIZE, ink=MUTED)
        drawing.close()


def ink(part: str) -> Ink:
    """Of a part of memory."""
    return _INKS[_COLOURS[part]]
