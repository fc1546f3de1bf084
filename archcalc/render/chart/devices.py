"""Devices as bars: what a model needs there, part by part, with the verdict in words.

The frame of every bar is the memory of its device, all as wide as one another: a card of 8 GB is read as easily as one
of 192, and how full a bar is says how full the device is.
"""

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
from archcalc.run.device import group
from archcalc.spec.units import binary_bytes

WIDTH = 860.0
NARROW = 560.0  # below it a name stands above its bar
BAR = 16.0
SIZE, SMALL = 12.0, 11.0
ROOM, MOST = 1.2, 1.5  # times its memory: what needs more leaves the picture
QUARTERS = (0, 0.25, 0.5, 0.75, 1)
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
        names = max(width(f"{row.gpu}  {_rated(row)}", SIZE) for row in report.rows)
        verdicts = max(width(_verdict(row), SIZE) for row in report.rows)
        return cls(wide, min(names, 260.0) + 14, wide - verdicts - 18, 32.0, 16.0)


def lengths(report: FitReport) -> Iterator[float]:
    """The memory of each device, and the parts of what is needed there, as shares of it."""
    for row in report.rows:
        yield from (size / max(row.capacity_bytes, 1) for size in (row.capacity_bytes, *row.segments.values()))


def devices(report: FitReport, wide: float = WIDTH) -> Drawing:
    layout = _Layout.of(report, wide)
    most = min(max(ROOM, *(_with_band(row)[1] / max(row.capacity_bytes, 1) for row in report.rows)), MOST)
    scale = Linear(0, most, layout.left, layout.right)
    ground = 10 + layout.row * len(report.rows)
    keys = legend.placed(_entries(report), 0, ground + 46, wide)
    told = (f"{row.gpu} has {binary_bytes(row.capacity_bytes)}: {_verdict(row)}" for row in report.rows)
    described = f"What is needed on each device against its memory. {'; '.join(told)}."
    drawing = Drawing(wide, ground + 36 + legend.height(keys), f"{report.title()}: devices", described)
    for tick in QUARTERS:
        x = scale.place(tick)
        drawing.line([(x, 4), (x, ground)], RULE)
        anchor = "middle" if 0 < tick < 1 else "start"
        words = "all of its memory" if tick == 1 else f"{100 * tick:.0f} %"
        drawing.text(words, x, ground + 12, size=SMALL, anchor=anchor, ink=MUTED)
    for place, row in enumerate(report.rows):
        _row(drawing, report, row, layout, scale, 4 + layout.row * place)
    legend.draw(drawing, keys)
    if report.band:
        _whisker(drawing, keys[-1].x, keys[-1].x + legend.KEY, keys[-1].y)
    return drawing


def _rated(row: Row) -> str:
    """As it is sold; of several devices what they have together."""
    first, *others = group(row.gpu).members
    alone = row.devices == 1 and not others
    return (alone and first.device.memory.nameplate) or binary_bytes(row.capacity_bytes)


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
    name = shortened(row.gpu, SIZE, room - 20 - width(_rated(row), SIZE))
    drawing.text(name, 0, words, size=SIZE)
    drawing.text(_rated(row), width(f"{name}  ", SIZE), words, size=SIZE, ink=MUTED)
    drawing.text(_verdict(row), layout.wide, words, size=SIZE, anchor="end", ink=_VERDICTS[row.verdict])

    # The memory as a frame, what is needed in it or beyond it, and the error of that.
    def place(size: int) -> float:
        return scale.place(min(size / max(row.capacity_bytes, 1), scale.high))

    start, end = place(0), place(row.capacity_bytes)
    drawing.rectangle(start, middle - BAR / 2, end - start, BAR, PANEL, edge=MUTED)
    below = 0
    for name, size in row.segments.items():
        x, wide = place(below), place(below + size) - place(below)
        if wide:
            drawing.rectangle(x, middle - BAR / 2 + 3, wide, BAR - 6, segment_ink(name), marks={"data-part": name})
        below += size
    low, high = _with_band(row)
    if row.room.percent is not None:
        _whisker(drawing, place(low), place(high), middle)
    drawing.line([(end, middle - BAR / 2 - 2), (end, middle + BAR / 2 + 2)], INK, width=2.5)
    drawing.close()


def _whisker(drawing: Drawing, low: float, high: float, middle: float) -> None:
    ends = [(low, middle - 3), (low, middle + 3), (low, middle), (high, middle), (high, middle - 3), (high, middle + 3)]
    drawing.line(ends, INK)
