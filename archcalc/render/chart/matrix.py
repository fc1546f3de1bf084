"""What fits over two choices as a field of cells: how far each grows, coloured by what is left of the memory.

A page makes its cells answer (`render/html/matrix.js`); what it needs to know of them is `cells`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from archcalc.analyze.fit.matrix_axes import Value
from archcalc.analyze.fit.matrix_cell import BATCH, CONTEXT, MEMORY, Cell, Refusal
from archcalc.analyze.fit.matrix_report import MatrixReport
from archcalc.analyze.fit.matrix_sentence import size, worded
from archcalc.analyze.fit.matrix_units import HEADINGS, NONE, briefly, gib, growth, in_thousands
from archcalc.analyze.fit.verdict import Verdict
from archcalc.render.chart import legend
from archcalc.render.chart.drawing import Drawing
from archcalc.render.chart.legend import Entry
from archcalc.render.inks import CLOSE, FITTING, INK, MUTED, PANEL, ROOMY, RULE, TIGHT, TOO_LARGE, UNSURE, Ink
from archcalc.render.text_width import shortened, width
from archcalc.spec.units import binary_bytes

WIDTH = 860.0
NARROW = 560.0  # below it the longer axis goes down
LEAST, TWO_LINES = 35.0, 62.0  # wide: of a cell, and of one that says what is left too
HIGH, LOW = 40.0, 28.0  # of a cell with two lines, and with one
SIZE, SMALL, TINY = 12.0, 10.5, 9.5
TOP = 38.0  # of the first row, with heads above it
NAMES, PHONE_NAMES = 150.0, 74.0  # room for those of rows
HALF, FIFTH = 0.5, 0.2  # shares of the memory
SHADES = {
    ROOMY: "fits, half of the memory left or more",
    FITTING: "fits, a fifth or more",
    CLOSE: "fits, less",
    TIGHT: "tight: within the error",
    UNSURE: "cannot say",
    TOO_LARGE: "does not fit: GiB missing",
    PANEL: "no such run",
}
_CAPTIONS = {
    CONTEXT: "In cells: tokens of context that surely fit, or GiB",
    BATCH: "In cells: the largest batch that surely fits, or GiB",
    MEMORY: "In cells: the memory needed, in GiB",
}


@dataclass(frozen=True)
class _Field:
    """The cells as they are drawn: on a narrow page the longer axis goes down."""

    report: MatrixReport
    axes: tuple[str, str]
    down: Sequence[Value]
    across: Sequence[Value]
    is_turned: bool

    @classmethod
    def of(cls, report: MatrixReport, wide: float) -> _Field:
        down = [value for value, _ in report.rows]
        if wide < NARROW and len(report.across) > len(down):
            return cls(report, (report.axes[1], report.axes[0]), report.across, down, True)
        return cls(report, report.axes, down, report.across, False)

    def cell(self, row: int, column: int) -> Cell | Refusal:
        row, column = self.place(row, column)
        return self.report.rows[row][1][column]

    def place(self, row: int, column: int) -> tuple[int, int]:
        """In the report."""
        return (column, row) if self.is_turned else (row, column)

    def names(self, axis: int, room: float, large: float = SIZE) -> list[str]:
        """Of all values in full, or if one is too long in short."""
        name, values = self.axes[axis], (self.down, self.across)[axis]
        full = [worded(name, value) for value in values]
        if all(width(one, large) <= room for one in full):
            return full
        return [HEADINGS.get(name, str)(one) for one in full]

    def memory(self, axis: int, value: Value) -> str:
        """Of a card, as it is sold."""
        return size(self.report.gpus[str(value)]) if self.axes[axis] == "gpu" else ""


def matrix(report: MatrixReport, wide: float = WIDTH) -> Drawing:
    field = _Field.of(report, wide)
    names = field.names(0, NAMES if wide >= NARROW else PHONE_NAMES)
    left = max(width(text, SIZE) for text in (*names, field.axes[0])) + 12
    each = max((wide - left) / len(field.across), LEAST)
    high = HIGH if each >= TWO_LINES else LOW
    room, ground = max(wide, left + each * len(field.across)), TOP + high * len(field.down)
    used = [_shade(field.cell(row, column)) for row in range(len(field.down)) for column in range(len(field.across))]
    entries = (Entry(ink, words, RULE) for ink, words in SHADES.items() if ink in used)
    keys = legend.placed(entries, 0, ground + 22, wide)
    told, caption = "; ".join((report.answer(), *report.beneath())), ground + 18 + legend.height(keys)
    drawing = Drawing(room, caption + 12, f"{report.title()}: {' × '.join(report.axes)}", told, role="group")
    drawing.inks |= {*SHADES, INK, MUTED}  # which the page's slider changes between
    drawing.text(field.axes[0], 0, TOP - 11, size=SMALL, ink=MUTED)
    _heads(drawing, field, left, each)
    for row, name in enumerate(names):
        drawing.text(name, 0, TOP + high * (row + 0.5), size=SIZE)
        for column in range(len(field.across)):
            _cell(drawing, field, (row, column), (left + each * column, TOP + high * row, each, high))
    legend.draw(drawing, keys)
    drawing.text(shortened(_CAPTIONS[report.kind], SMALL, room), 0, caption, size=SMALL, ink=MUTED)
    return drawing


def _heads(drawing: Drawing, field: _Field, left: float, each: float) -> None:
    """The name of each column, and beneath it the memory of a card or the rest of a long name."""
    large = _size(each)
    for column, (value, name) in enumerate(zip(field.across, field.names(1, each - 4, large), strict=True)):
        middle, beneath = left + each * (column + 0.5), field.memory(1, value)
        if not beneath and width(name, large) > each - 4:
            name, _, beneath = name.partition("_" if "_" in name else "-")
        drawing.text(shortened(name, large, each - 2), middle, TOP - 27, size=large, anchor="middle")
        drawing.text(shortened(beneath, TINY, each), middle, TOP - 11, size=TINY, anchor="middle", ink=MUTED)


def _size(each: float) -> float:
    return SIZE if each >= TWO_LINES else SMALL


def _cell(drawing: Drawing, field: _Field, at: tuple[int, int], box: tuple[float, float, float, float]) -> None:
    cell, (x, y, wide, high) = field.cell(*at), box
    row, column = field.place(*at)
    drawing.open(hint=_hint(field.report, row, column), marks={"data-cell": f"{row} {column}"})
    drawing.rectangle(x + 1, y + 1, wide - 2, high - 2, _shade(cell), radius=4)
    first, second = _lines(cell, field.report.kind, brief=wide < TWO_LINES)
    middle, ink = x + wide / 2, MUTED if isinstance(cell, Refusal) else INK
    drawing.text(first, middle, y + high / 2 - (7 if second else 0), size=_size(wide), anchor="middle", ink=ink)
    if second:
        drawing.text(second, middle, y + high / 2 + 8, size=TINY, anchor="middle", ink=ink)
    drawing.close()


def _lines(cell: Cell | Refusal, kind: str, *, brief: bool) -> tuple[str, str]:
    """`31k` and `5.2 GiB left`, `✗ −10.3` and `GiB missing`; one of them where there is no room for both."""
    if isinstance(cell, Refusal):
        return NONE, ""
    if kind == MEMORY:
        return gib(cell.required), "" if brief else "GiB"
    if brief:
        return briefly(cell), ""
    grown, missing = growth(cell), "left" if cell.left >= 0 else "missing"
    if grown:
        return in_thousands(grown), f"{gib(cell.left)} GiB {missing}"
    return f"{cell.verdict.mark} {gib(cell.left)}", f"GiB {missing}"


def _shade(cell: Cell | Refusal) -> Ink:
    if isinstance(cell, Refusal):
        return PANEL
    if cell.verdict is not Verdict.FITS:
        return {Verdict.TIGHT: TIGHT, Verdict.CANNOT_SAY: UNSURE, Verdict.NOT: TOO_LARGE}[cell.verdict]
    return next((ink for ink, least in ((ROOMY, HALF), (FITTING, FIFTH)) if cell.share_left >= least), CLOSE)


def _named(report: MatrixReport, row: int, column: int) -> str:
    values = report.rows[row][0], report.across[column]
    return " × ".join(worded(axis, value) for axis, value in zip(report.axes, values, strict=True))


def _hint(report: MatrixReport, row: int, column: int) -> str:
    cell = report.rows[row][1][column]
    if isinstance(cell, Refusal):
        return f"{_named(report, row, column)}: {cell.fact}"
    left = f"{binary_bytes(abs(cell.left))} {'left' if cell.left >= 0 else 'missing'}"
    return f"{_named(report, row, column)}: {cell.verdict.value}, {left}"


def cells(report: MatrixReport) -> dict[str, Any]:
    """What a page knows of the cells, so that it asks nobody: sizes up to which each fits, and its command."""
    grown = [cell.growth for cell in report.answered() if cell.growth]
    sizes = [size for one in grown for size in (one.longest, one.most, one.asked) if size]
    rows = range(len(report.rows))
    return {
        "kind": report.kind,
        "asked": grown[0].asked if grown else None,
        "most": max(sizes, default=None),
        "cells": [[_told(report, row, column) for column in range(len(report.across))] for row in rows],
    }


def _told(report: MatrixReport, row: int, column: int) -> dict[str, Any]:
    cell = report.rows[row][1][column]
    found = {
        "name": _named(report, row, column),
        "command": cell.command,
    }  # none where the options contradict each other
    if isinstance(cell, Refusal):
        return {**found, "answer": cell.fact}
    found |= {"answer": cell.answer, "shade": _shade(cell).name}
    if cell.growth is None:
        return found
    one = cell.growth
    ends = {"most": one.most, "limit": one.limit, "longest": one.longest, "asking": one.command}
    return {**found, **ends, "within": one.within.value, "beyond": one.beyond.value}
