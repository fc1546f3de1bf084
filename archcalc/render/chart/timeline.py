"""Memory over a step: parts on top of each other, from phase to phase, with the peak marked and named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from archcalc.analyze.memory.parts import PARTS
from archcalc.analyze.memory.report import MemoryReport, instant_name, stretch_name
from archcalc.render.chart import legend
from archcalc.render.chart.drawing import Drawing
from archcalc.render.chart.legend import ORDER, Entry, ink
from archcalc.render.chart.scale import Linear
from archcalc.render.inks import INK, MUTED, RULE
from archcalc.render.text_width import shortened, width, wrapped
from archcalc.simulate.levels import Snapshot
from archcalc.spec.units import binary_bytes

WIDTH = 860.0
LEFT, RIGHT, TOP = 62.0, 12.0, 46.0  # around the areas
HIGH = 280.0  # of the areas
ALONE = 16.0  # pixels at the least for what happens once
SIZE, SMALL, LINE = 12.0, 11.0, 18.0


class Column(NamedTuple):
    """A stage, and from where to where it is drawn."""

    instant: Snapshot
    start: float
    end: float


def timeline(report: MemoryReport, wide: float = WIDTH) -> Drawing:
    """Of a training step, or of a forward pass."""
    columns = _columns(stages(report), LEFT, wide - RIGHT)
    ground = TOP + HIGH
    unit = 1  # that the axis counts in: bytes, KiB, MiB …
    while report.peak.bytes >= 1024 * unit:
        unit *= 1024
    scale = Linear(0, max(report.peak.bytes, report.required_bytes, 1), ground, TOP, unit=unit)
    keys = legend.placed(_entries(report.peak, columns), LEFT, ground + 66, wide - LEFT - RIGHT)
    title = f"{report.title()}: memory over the step"
    at_peak = (f"{PARTS[part]} {binary_bytes(size)}" for part, size in report.peak.parts.items() if size)
    described = f"Stacked areas from phase to phase. {peak_words(report.peak)}: {', '.join(at_peak)}."
    beneath = ground + 56 + legend.height(keys)
    why = wrapped(report.why(), SIZE, wide - LEFT - RIGHT)
    drawing = Drawing(wide, beneath + 10 + LINE * len(why), title, described)
    for tick in scale.ticks():
        y = scale.place(tick)
        drawing.line([(LEFT, y), (wide - RIGHT, y)], RULE)
        drawing.text(_tick(tick), LEFT - 8, y, size=SMALL, anchor="end", ink=MUTED)
    _areas(drawing, columns, scale, [part for part in ORDER if any(column.instant.parts[part] for column in columns)])
    _phases(drawing, columns, ground)
    _needed(drawing, report, scale, wide)
    _peak(drawing, report.peak, columns, scale)
    if wide >= WIDTH:
        hints = (f"{instant_name(one.instant)}: {binary_bytes(one.instant.bytes)}" for one in columns)
        ends = ((one.start, TOP, one.end - one.start, HIGH) for one in columns)
        drawing.zones((*end, hint) for end, hint in zip(ends, hints, strict=True))
    legend.draw(drawing, keys)
    for number, text in enumerate(why):
        drawing.text(text, LEFT, beneath + LINE * (number + 0.5))
    return drawing


def stages(report: MemoryReport) -> Sequence[Snapshot]:
    """The step in detail; for what computes nothing, what is always there."""
    return (report.stages.value if report.stages else ()) or (report.peak,)


def lengths(report: MemoryReport) -> Iterator[int]:
    """How much is there, stage by stage."""
    return (stage.bytes for stage in stages(report))


def _columns(found: Sequence[Snapshot], left: float, right: float) -> list[Column]:
    """What happens once has room to be seen; copies share the rest."""
    room, copies = right - left, sum(stage.is_one_of_many for stage in found)
    singles, single = len(found) - copies, room / len(found)
    each = single
    if single < ALONE and copies and singles * ALONE <= room / 2:
        single, each = ALONE, (room - singles * ALONE) / copies
    edges = [left]
    for stage in found:
        edges.append(edges[-1] + (each if stage.is_one_of_many else single))
    return [Column(stage, *ends) for stage, ends in zip(found, pairwise(edges), strict=True)]


def peak_words(peak: Snapshot) -> str:
    return f"peak: {instant_name(peak)} — {binary_bytes(peak.bytes)}"


def _entries(peak: Snapshot, columns: Sequence[Column]) -> Iterator[Entry]:
    """From the top of the picture to the bottom, with what each part has at the peak, or at most where it has none."""
    for part in reversed(ORDER):
        most = max(column.instant.parts[part] for column in columns)
        if peak.parts[part]:
            yield Entry(ink(part), f"{PARTS[part]} {binary_bytes(peak.parts[part])}")
        elif most:
            yield Entry(ink(part), f"{PARTS[part]} up to {binary_bytes(most)}")


def _tick(value: float) -> str:
    number, unit = binary_bytes(round(value)).split(" ")
    if "." in number:
        number = number.rstrip("0").rstrip(".")
    return f"{number} {unit}"


def _areas(drawing: Drawing, columns: Sequence[Column], scale: Linear, parts: Sequence[str]) -> None:
    """From the topmost down to the ground, each before the next, so that one outline is enough for each."""
    for place in reversed(range(len(parts))):
        below = parts[: place + 1]
        levels = [sum(column.instant.parts[part] for part in below) for column in columns]
        points = [(columns[0].start, scale.start)]  # level from column to column, and back along the ground
        for level, equal in groupby(zip(levels, columns, strict=True), key=lambda pair: pair[0]):
            run = [column for _, column in equal]
            points += [(run[0].start, scale.place(level)), (run[-1].end, scale.place(level))]
        points.append((columns[-1].end, scale.start))
        drawing.area(points, ink(parts[place]), marks={"data-part": parts[place]})


def _phases(drawing: Drawing, columns: Sequence[Column], ground: float) -> None:
    """The layers beneath the axis where there is room for their names, and the phases beneath them."""
    drawing.line([(columns[0].start, ground), (columns[-1].end, ground)], MUTED)
    for _, run in groupby(columns, key=lambda column: (column.instant.phase, stretch_name(column.instant))):
        layer = list(run)
        start, end = layer[0].start, layer[-1].end
        name, runs = stretch_name(layer[0].instant), layer[0].instant.place.runs
        names = [f"{name} × {runs:,}", name][runs == 1 :]
        fitting = [words for words in names if width(words, SMALL) <= end - start - 4]
        if fitting:
            drawing.text(fitting[0], (start + end) / 2, ground + 13, size=SMALL, anchor="middle", ink=MUTED)
    for phase, run in groupby(columns, key=lambda column: column.instant.phase):
        inside = list(run)
        start, end = inside[0].start, inside[-1].end
        drawing.line([(start + 1, ground + 26), (end - 1, ground + 26)], MUTED, width=2)
        shown = shortened(phase, SIZE, max(end - start, 40), bold=True)
        if end == columns[-1].end and end - start < 60:
            drawing.text(shown, end, ground + 38, anchor="end", bold=True)
        else:
            drawing.text(shown, (start + end) / 2, ground + 38, anchor="middle", bold=True)


def _needed(drawing: Drawing, report: MemoryReport, scale: Linear, wide: float) -> None:
    """What the device must have, where the allocator takes more than the tensors."""
    if not report.device:
        return
    y = scale.place(report.required_bytes)
    drawing.line([(LEFT, y), (wide - RIGHT, y)], INK, dash="6 4")
    words = f"needed with what the allocator reserves: {binary_bytes(report.required_bytes)}"
    drawing.text(words, wide - RIGHT, 10, size=SMALL, anchor="end", ink=MUTED)


def _peak(drawing: Drawing, peak: Snapshot, columns: Sequence[Column], scale: Linear) -> None:
    highest = max(columns, key=lambda column: column.instant.bytes)
    x, y = (highest.start + highest.end) / 2, scale.place(peak.bytes)
    drawing.line([(x, scale.start), (x, y)], INK, dash="2 3")
    drawing.dot(x, y, 4, INK)
    words = peak_words(peak)
    wide = width(words, SIZE, bold=True)
    left = min(max(x - wide / 2, columns[0].start), columns[-1].end - wide)
    drawing.text(words, left, TOP - 16, bold=True)
