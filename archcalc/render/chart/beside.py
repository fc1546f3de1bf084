"""Models side by side: the whole of each, then part by part, to one scale, with the difference to the first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from archcalc.analyze.compare.align import Row
from archcalc.analyze.compare.answer import METRICS, CompareReport
from archcalc.render.chart import legend
from archcalc.render.chart.drawing import Drawing
from archcalc.render.chart.legend import Entry
from archcalc.render.chart.scale import Linear
from archcalc.render.inks import INK, MUTED, RULE, series
from archcalc.render.text_width import shortened, width
from archcalc.spec.units import binary_bytes, flops, rounded

WIDTH = 860.0
NARROW = 560.0  # below it a name stands above its bars
BAR, APART = 14.0, 18.0  # a bar, and from one group of bars to the next
LINE = 22.0  # of a name above its bars
SIZE, SMALL = 12.0, 11.0
DEEPEST = 2  # levels below the parts of a model
LEAST = 1 / 100  # of the largest model: smaller parts are told together
FAR = 2  # times as much: told as a multiple, else in percent
AMOUNTS = {"count": rounded, "flops": flops, "bytes": binary_bytes}


class Group(NamedTuple):
    """A bar for each model; None where it has no such part."""

    title: str
    values: tuple[int | None, ...]


def lengths(report: CompareReport) -> Iterator[int | None]:
    return (value for group in groups(report) for value in group.values)


def groups(report: CompareReport) -> list[Group]:
    """The models, and their parts that have no smaller ones here, in the order of the forward pass."""
    whole, *rows = report.rows
    inside: dict[str, list[Row]] = {}
    for row in rows:
        inside.setdefault(row.path.rpartition(".")[0], []).append(row)
    parts = [row for top in inside.get("", []) for row in _parts(top, inside) if any(row.values)]
    large = [row for row in parts if max(value or 0 for value in row.values) >= LEAST * max(report.totals)]
    small = [row for row in parts if row not in large]
    titles = [row.title for row in large]
    listed = [Group(_named(row, titles, report.rows), row.values) for row in large]
    told = small[0].title if len(small) == 1 else f"{len(small):,} smaller parts"
    return [Group("whole model", whole.values), *listed, *([Group(told, _summed(small))] if small else [])]


def _parts(row: Row, inside: Mapping[str, Sequence[Row]]) -> Iterator[Row]:
    """What it is made of, where that is all of it."""
    own = inside.get(row.path, ())
    if row.depth < DEEPEST and own and _summed(own) == tuple(value or 0 for value in row.values):
        for part in own:
            yield from _parts(part, inside)
    else:
        yield row


def _named(row: Row, titles: Sequence[str], rows: Sequence[Row]) -> str:
    """With the part of the model that it is in, where another one has a part of that name."""
    if titles.count(row.title) == 1:
        return row.title
    top = next(other for other in rows if other.path == row.path.split(".", 1)[0])
    return f"{top.title}: {row.title}"


def _summed(rows: Sequence[Row]) -> tuple[int, ...]:
    return tuple(sum(value or 0 for value in column) for column in zip(*(row.values for row in rows), strict=True))


def beside(report: CompareReport, wide: float = WIDTH) -> Drawing:
    found = groups(report)
    layout = _Layout.of(report, found, wide)
    most = max(value or 0 for group in found for value in group.values)
    scale = Linear(0, max(most, 1), layout.left, layout.right)
    named = zip(report.letters, report.counted, strict=True)
    entries = [Entry(series(place), f"{letter}  {label}") for place, (letter, label) in enumerate(named)]
    keys = legend.placed(entries, 0, 12, wide)
    top = 12 + legend.height(keys)
    told = "; ".join(f"{group.title} {', '.join(_amounts(report, group))}" for group in found)
    high = top + len(found) * layout.high(report) - APART + 8
    drawing = Drawing(wide, high, f"{report.title()}: {METRICS[report.metric].noun} side by side", f"{told}.")
    legend.draw(drawing, keys)
    drawing.line([(layout.left, top), (layout.left, high - 4)], RULE)
    for group in found:
        _group(drawing, report, group, layout, scale, top)
        top += layout.high(report)
    return drawing


class _Layout(NamedTuple):
    """Where names end, and from where to where bars go."""

    left: float
    right: float
    above: float  # a name above its bars

    @classmethod
    def of(cls, report: CompareReport, found: Sequence[Group], wide: float) -> _Layout:
        words = max(width(text, SMALL) for group in found for text in _amounts(report, group))
        if wide < NARROW:
            return cls(0, wide - words - 10, LINE)
        names = max(width(group.title, SIZE) for group in found)
        return cls(min(names, 220.0) + 14, wide - words - 10, 0)

    def high(self, report: CompareReport) -> float:
        return self.above + len(report.labels) * (BAR + 2) + APART


def _group(drawing: Drawing, report: CompareReport, group: Group, layout: _Layout, scale: Linear, top: float) -> None:
    """With a line through all bars where that of the first model ends."""
    middle = top + LINE / 2 if layout.above else top + len(group.values) * (BAR + 2) / 2
    name = shortened(group.title, SIZE, layout.left - 14 if layout.left else layout.right)
    drawing.text(name, max(layout.left - 10, 0), middle, anchor="end" if layout.left else "start")
    start = top = top + layout.above
    first = scale.place(group.values[0] or 0)
    for place, (value, words) in enumerate(zip(group.values, _amounts(report, group), strict=True)):
        end = scale.place(value or 0)
        drawing.open(hint=f"{group.title}, {report.labels[place]}: {value or 0:,}")
        drawing.rectangle(layout.left, top, end - layout.left, BAR, series(place), marks={"data-model": place})
        drawing.text(words, max(end, first) + 8, top + BAR / 2, size=SMALL, ink=MUTED if value is None else INK)
        drawing.close()
        top += BAR + 2
    drawing.line([(first, start - 2), (first, top)], INK, dash="2 2")


def _amounts(report: CompareReport, group: Group) -> list[str]:
    """`302.3 M · × 3.55`, `5.4 GiB · +10 %`, `none`."""
    first, amount = group.values[0], AMOUNTS[METRICS[report.metric].unit]
    changes = ["", *(_change(first, value) for value in group.values[1:])]
    told = zip(group.values, changes, strict=True)
    return [" · ".join(filter(None, ("none" if value is None else amount(value), change))) for value, change in told]


def _change(first: int | None, value: int | None) -> str:
    if not (first and value):
        return ""
    if value == first:
        return "the same"
    if value >= FAR * first:
        return f"× {value / first:,.3g}"
    return f"{100 * (value - first) / first:+.1f} %".replace("-", "−")
