"""FLOPs by kind of work: forward, and backward in training."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from archcalc.analyze.flops.report import Amounts, FlopsReport
from archcalc.render.chart import legend
from archcalc.render.chart.drawing import Drawing
from archcalc.render.chart.legend import Entry
from archcalc.render.chart.scale import Linear
from archcalc.render.inks import MUTED, RULE, SERIES
from archcalc.render.text_width import width
from archcalc.report.units import words
from archcalc.spec.units import flops

WIDTH = 860.0
NARROW = 560.0  # below it a name stands above its bar
BAR = 18.0
SIZE, SMALL = 12.0, 11.0
INKS = {"forward": SERIES[0], "backward": SERIES[4], "recomputed": SERIES[3]}


def lengths(report: FlopsReport) -> Iterator[int]:
    """The work of every kind."""
    return (size for amounts in report.kinds.values() if (size := _size(amounts)))


def work(report: FlopsReport, wide: float = WIDTH) -> Drawing:
    kinds = {kind: (amounts, _figure(report, amounts)) for kind, amounts in report.kinds.items() if _size(amounts)}
    layout = _Layout.of(wide, {kind: figure for kind, (_, figure) in kinds.items()})
    most = max((_size(amounts) for amounts, _ in kinds.values()), default=1)
    scale = Linear(0, most, layout.left, layout.right)
    ground = 8 + layout.row * len(kinds)
    passes = _passes(report.amounts)
    entries = [Entry(INKS[name], f"{name} {flops(size)}") for name, size in passes.items()]
    keys = legend.placed(entries, 0, ground + 18, wide)
    title = f"{report.title()}: {flops(report.total)} FLOPs by kind of work"
    told = ", ".join(f"{kind} {figure}" for kind, (_, figure) in kinds.items())
    drawing = Drawing(wide, ground + 8 + legend.height(keys), title, f"Matrix products: {told}.")
    drawing.line([(layout.left, 4), (layout.left, ground)], RULE)
    for place, (kind, (amounts, figure)) in enumerate(kinds.items()):
        top = 4 + layout.row * place
        drawing.text(kind, max(layout.left - 10, 0), top + layout.words, anchor=layout.anchor)
        drawing.text(figure, wide, top + layout.words, anchor="end", ink=MUTED)
        middle = top + layout.bar
        below = 0
        for name, size in _passes(amounts).items():
            start, end = scale.place(below), scale.place(below + size)
            drawing.rectangle(start, middle - BAR / 2, end - start, BAR, INKS[name], marks={"data-pass": name})
            below += size
    legend.draw(drawing, keys)
    return drawing


class _Layout(NamedTuple):
    """Where names, bars and figures stand; `words` and `bar` are from the top of a row to the middle of each."""

    left: float
    right: float
    row: float
    words: float
    bar: float
    anchor: str

    @classmethod
    def of(cls, wide: float, texts: dict[str, str]) -> _Layout:
        if wide < NARROW:
            return cls(0, wide, 50, 10, 34, "start")
        names, figures = (max((width(text, SIZE) for text in each), default=0.0) for each in (texts, texts.values()))
        return cls(names + 14, wide - figures - 14, 34, 17, 17, "end")


def _passes(amounts: Amounts) -> dict[str, int]:
    named = {"forward": amounts.forward, "backward": amounts.backward, "recomputed": amounts.recompute}
    return {name: int(size) for name, size in named.items() if size}


def _size(amounts: Amounts) -> int:
    return sum(_passes(amounts).values())


def _figure(report: FlopsReport, amounts: Amounts) -> str:
    share = amounts.total / report.total if report.total else 0.0
    return f"{flops(amounts.total)} · {words(share, 'share')}"
