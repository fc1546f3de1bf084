"""The report of `archcalc plot`: the points of every curve, where curves cross, and the chart of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from archcalc.analyze.plot.axes import Axis
from archcalc.analyze.plot.curves import Family
from archcalc.analyze.plot.panels import Met
from archcalc.analyze.plot.subject import Measure
from archcalc.report.base import Report
from archcalc.report.picture import Curves, Number, Panel
from archcalc.report.table import Column, Line, Table
from archcalc.report.units import unit
from archcalc.spec.units import binary_bytes, flops, rounded

WIDTH = 78  # of a table whose columns can go by the labels of their curves
KEPT = 6  # columns that are never left out
CELLS = {"bytes": "binary", "flops": "rough_flops", "count": "rough"}  # units of the table
unit("rough", lambda value: rounded(round(value)))
unit("rough_flops", lambda value: flops(round(value)))


@dataclass(frozen=True)
class PlotReport(Report):
    command: ClassVar[str] = "plot"
    chart: ClassVar[str] = "curves"
    about: str  # what is drawn over what, and how the models run
    x: Axis
    by: Axis | None
    measures: tuple[Measure, ...]
    families: tuple[Family, ...]
    curves: Curves
    met: tuple[Met, ...]

    def title(self) -> str:
        return f"{self.model} · {self.about}"

    def answer(self) -> str:
        """The first crossing of like with like, or of what was named first; else from where to where that goes."""
        crossed = sorted((one for one in self.met if one.crossing), key=lambda one: not one.is_alike)
        heads = [one.told for one in crossed if one.is_alike or one.line.measure is self.measures[0]]
        return heads[0] if heads else self._range(self.curves.panels[0])

    def _range(self, panel: Panel) -> str:
        line = panel.lines[0]
        points = [(x, y) for x, y in zip(self.x.values, line.heights, strict=True) if y is not None]
        (first, low), (last, high) = points[0], points[-1]
        name = "" if isinstance(first, str) else f"{self.x.name} "
        start = f"{line.label}: {amount(low, panel)} at {name}{_plain(first)}"
        if len(points) > 1:
            return f"{start}, {amount(high, panel)} at {_plain(last)}"
        return f"{start}, the only value that is not refused" if len(self.x.values) > 1 else start

    def table(self) -> Table:
        """A line for each place of the axis, a column for each curve."""
        lines = [(line, panel) for panel in self.curves.panels for line in panel.lines]
        heads = [line.label for line, _ in lines]
        units = [CELLS[panel.unit] for _, panel in lines]
        named = zip(self._heads(heads), units, strict=True)
        columns = [Column[Any]("", head, unit, spare=place >= KEPT) for place, (head, unit) in enumerate(named)]
        rows = zip(self.x.values, *(line.heights for line, _ in lines), strict=True)
        made = (Line((_plain(x), *heights)) for x, *heights in rows)
        return Table((Column[Any]("", self.x.name, "bound"), *columns), tuple(made), self.curves)

    def _heads(self, labels: list[str]) -> list[str]:
        """The labels, or letters where those are too wide."""
        wide = len(self.x.name) + sum(2 + max(len(label), 9) for label in labels)
        return labels if wide <= WIDTH else [letter(place) for place in range(len(labels))]

    def more(self) -> Sequence[Table]:
        """What the letters stand for, and where curves cross."""
        found: list[Table] = []
        labels = [line.label for panel in self.curves.panels for line in panel.lines]
        if self._heads(labels) != labels:
            lines = (Line((letter(place), label)) for place, label in enumerate(labels))
            found.append(Table((Column[Any]("", "", "name"), Column[Any]("", "curve", "text")), tuple(lines)))
        if self.met:
            first = Column[Any]("", "where curves cross", "name")
            numbers = (Column[Any]("", label, "count") for label in (self.x.name, "there", "past it"))
            found.append(Table((first, *numbers), tuple(Line((one.brief, *one.numbers)) for one in self.met)))
        return found

    def facts(self) -> dict[str, Any]:
        crossings, numbers = [], ("last", "next", "at_last", "at_next", "rises", "solved")
        for met in self.met:
            named = {"curve": met.line.label, "y": met.line.measure.name, "meets": met.other, "device": met.is_device}
            found = {name: getattr(met.crossing, name) if met.crossing else None for name in numbers}
            crossings.append({**named, **found, "text": met.told})
        limits = [limit for panel in self.curves.panels for limit in panel.limits]
        kinds = {True: "log", False: "linear"}
        axes = {"x": kinds[self.curves.log] if self.x.numeric else "names"}
        axes |= {f"y of {panel.title}": kinds[panel.log] for panel in self.curves.panels}
        return {
            **super().facts(),
            "x": self.x.name,
            "by": self.by.name if self.by else None,
            "y": [one.name for one in self.measures],
            "axes": axes,
            "capacities": [{"device": limit.name, "bytes": limit.height} for limit in limits],
            "crossings": crossings,
        }

    def records(self) -> list[dict[str, Any]]:
        """A line for each point, with what is measured there."""
        found = []
        for family in self.families:
            for place in self.x.values:
                by = {self.by.name: family.by} if self.by else {}
                numbers = {key(one): family.value(one, place) for one in self.measures}
                found.append({"model": family.subject.label, **by, self.x.name: place, **numbers})
        return found


def key(measure: Measure) -> str:
    """The column of a spreadsheet."""
    name = measure.name.replace("-", "_")
    return f"{name}_bytes" if measure.unit == "bytes" else name


def letter(place: int) -> str:
    return chr(ord("A") + place % 26) * (place // 26 + 1)


def amount(number: Number, panel: Panel) -> str:
    """`16.8 GiB`, `8.03 B`, `874.9 G`."""
    words = {"bytes": binary_bytes, "flops": flops, "count": rounded}
    return words[panel.unit](round(number))


def _plain(place: int | str) -> str:
    if isinstance(place, bool):
        return str(place).lower()
    return f"{place:,}" if isinstance(place, int) else place
