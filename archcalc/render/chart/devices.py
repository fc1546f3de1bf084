"""Devices as bars: what a model needs there, part by part, against the memory of each, with the verdict in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from archcalc.analyze.fit.report import FitReport
from archcalc.analyze.fit.rows import SEGMENTS, Row
from archcalc.analyze.fit.verdict import Verdict
from archcalc.render.chart import legend
from archcalc.render.chart.drawing import Drawing
from archcalc.render.chart.legend import Entry, ink
from archcalc.render.chart.scale import Linear
from archcalc.render.inks import BAD, FAIR, GOOD, INK, MUTED, PANEL, RULE, SERIES, Ink
from archcalc.render.text_width import shortened, width
from archcalc.spec.units import binary_bytes

WIDTH = 860.0
NARROW = 560.0  # below it a name stands above its bar
BAR = 16.0
SIZE, SMALL = 12.0, 11.0
GIB = 2**30
_VERDICTS = {Verdict.FITS: GOOD, Verdict.TIGHT: FAIR, Verdict.CANNOT_SAY: MUTED, Verdict.NOT: BAD}
_BESIDES = SERIES[-2]  # what is needed besides the tensors


@dataclass(frozen=True)
class _Layout:
    """Where names, bars and verdicts stand."""

    wide: float
    left: float
    right: float
    row: float  # height
    bar: float  # from the top of a row to the middle of its bar

    @classmethod
    def of(cls, report: FitReport, wide: float) -> _Layout:
        if wide < NARROW:
            return cls(wide, 0, wide, 52.0, 36.0)
        names = max(width(row.gpu, SIZE) for row in report.rows)
        verdicts = max(width(_verdict(row), SIZE) for row in report.rows)
        return cls(wide, min(names, 200.0) + 14, wide - verdicts - 18, 32.0, 16.0)


def devices(report: FitReport, wide: float = WIDTH) -> Drawing:
    layout = _Layout.of(report, wide)
    most = max(max(row.capacity_bytes, _with_band(row)[1]) for row in report.rows)
    scale = Linear(0, max(most, 1), layout.left, layout.right, unit=GIB)
    ground = 10 + layout.row * len(report.rows)
    keys = legend.placed(_entries(report), 0, ground + 46, wide)
    told = (f"{row.gpu} has {binary_bytes(row.capacity_bytes)}: {_verdict(row)}" for row in report.rows)
    described = f"What is needed on each device against its memory. {'; '.join(told)}."
    drawing = Drawing(wide, ground + 36 + legend.height(keys), f"{report.title()}: devices", described)
    for tick in scale.ticks():
        x = scale.place(tick)
        drawing.line([(x, 4), (x, ground)], RULE)
        anchor = "start" if x < 10 else "middle"
        words = f"{tick / GIB:,.0f} GiB" if tick >= GIB else f"{tick / GIB:.2g} GiB"
        if x + width(words, SMALL) / 2 <= drawing.width:
            drawing.text(words, x, ground + 12, size=SMALL, anchor=anchor, ink=MUTED)
    for place, row in enumerate(report.rows):
        _row(drawing, report, row, layout, scale, 4 + layout.row * place)
    legend.draw(drawing, keys)
    if report.band:
        _whisker(drawing, keys[-1].x, keys[-1].x + legend.KEY, keys[-1].y)
    return drawing


def segment_ink(name: str) -> Ink:
    """That of its largest part, as a rule."""
    parts = SEGMENTS.get(name)
    if not parts:
        return _BESIDES
    return ink(name if name in parts else parts[0])


def _verdict(row: Row) -> str:
    left = binary_bytes(abs(row.left_bytes))
    room = f"{left} left" if row.left_bytes >= 0 else f"{left} too little"
    return f"{row.verdict.mark} {row.verdict.value} · {room}"


def _with_band(row: Row) -> tuple[int, int]:
    """What is needed, less and more by the error of measured runs, where there are such."""
    error = row.required_bytes * (row.room.percent or 0) // 100
    return row.required_bytes - error, row.required_bytes + error


def _entries(report: FitReport) -> Iterator[Entry]:
    """With their sizes where these are the same on all devices."""
    same = len({row.required_bytes for row in report.rows}) == 1
    used: dict[str, int] = {}
    for row in report.rows:
        used |= {name: size for name, size in row.segments.items() if size}
    for name, size in used.items():
        yield Entry(segment_ink(name), f"{name} {binary_bytes(size)}" if same else name)
    yield Entry(PANEL, "memory of the device", MUTED)
    if report.band:
        yield Entry(None, f"± {report.band.percent} %, the error of measured runs")


def _row(drawing: Drawing, report: FitReport, row: Row, layout: _Layout, scale: Linear, top: float) -> None:
    drawing.open(hint=f"{row.gpu}: needs {binary_bytes(row.required_bytes)} of {binary_bytes(row.capacity_bytes)}")
    middle = top + layout.bar
    words, room = middle, layout.left
    if layout.wide < NARROW:
        words, room = top + 10, layout.wide / 2
    drawing.text(shortened(row.gpu, SIZE, room - 8), 0, words, size=SIZE)
    drawing.text(_verdict(row), layout.wide, words, size=SIZE, anchor="end", ink=_VERDICTS[row.verdict])
    # The memory as a frame, what is needed in it or beyond it, and the error of that.
    start, end = scale.place(0), scale.place(row.capacity_bytes)
    drawing.rectangle(start, middle - BAR / 2, end - start, BAR, PANEL, edge=MUTED)
    below = 0
    for name, size in row.segments.items():
        x, wide = scale.place(below), scale.place(below + size) - scale.place(below)
        if size:
            drawing.rectangle(x, middle - BAR / 2 + 3, wide, BAR - 6, segment_ink(name), marks={"data-part": name})
        below += size
    low, high = _with_band(row)
    if row.room.percent is not None:
        _whisker(drawing, scale.place(low), scale.place(high), middle)
    drawing.line([(end, middle - BAR / 2 - 2), (end, middle + BAR / 2 + 2)], INK, width=2.5)
    drawing.close()


def _whisker(drawing: Drawing, low: float, high: float, middle: float) -> None:
    ends = [(low, middle - 3), (low, middle + 3), (low, middle), (high, middle), (high, middle - 3), (high, middle + 3)]
    drawing.line(ends, INK)
