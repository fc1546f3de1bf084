"""The report of `archcalc walk`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from archcalc.analyze.walk.sides import Box
from archcalc.core.count import Count
from archcalc.report.base import Figure, Report
from archcalc.report.table import Column, Line, Table, cells_of, in_tables, keys
from archcalc.report.units import unit
from archcalc.spec.units import flops

Names = tuple[str, ...]
unit("briefly", format=lambda value: flops(value) if value else "")
unit("counted", format=lambda value: f"{value:,}" if value else "")


@dataclass(frozen=True)
class Shown:
    """A tensor that a step reads or makes: what it is called, its shape, and how it is drawn."""

    name: str
    shape: tuple[int, ...]
    dims: Names
    box: Box
    made_by: str = ""  # the path of the step, of what is no parameter
    path: str = ""  # of a parameter

    def words(self, *, symbolic: bool) -> str:
        return "×".join(self.dims if symbolic else map(str, self.shape)) or "1"

    def record(self) -> dict[str, Any]:
        where = {"parameter": self.path} if self.path else {"made_by": self.made_by or None}
        return {"name": self.name, "shape": list(self.shape), "dims": list(self.dims), **where}


@dataclass(frozen=True)
class Place:
    """A module around a step."""

    path: str
    title: str
    repeat: int = 1
    calls: int = 1

    @property
    def text(self) -> str:
        """`block × 12`; `LSTM step, 100 times`."""
        copies = f" × {self.repeat:,}" if self.repeat > 1 else ""
        return f"{self.title}{copies}{f', {self.calls:,} times each' if self.calls > 1 else ''}"


@dataclass(frozen=True)
class Row:
    """A step: figures of one run of one copy, and of all of them."""

    number: int
    path: str
    title: str
    what: str
    places: tuple[Place, ...]
    inputs: tuple[Shown, ...]
    weights: tuple[Shown, ...]  # those that are read here first, counted here
    output: Shown | None
    pair: tuple[Shown, ...]  # the two factors of a matrix product, whose boxes meet side to side; nothing of others
    besides: tuple[Shown, ...]  # what it reads besides these
    formula: str
    also: tuple[Shown, ...]  # a shape to look at, such as that of one head
    copies: int
    runs: int
    each: Count  # parameters of one copy
    parameters: int
    once: Count  # FLOPs of one run: matrix products, or where there are none all others
    flops: int
    elementwise: int
    names: bool = False

    def shapes(self, *, symbolic: bool) -> str:
        """`2048×1024 → 2048×768`."""
        ends = (*self.inputs[:1], *filter(None, [self.output]))
        return " → ".join(dict.fromkeys(each.words(symbolic=symbolic) for each in ends))

    def workings(self) -> Iterator[str]:
        """By names, then by numbers, then what it comes to."""
        kind = "FLOPs" if self.flops else "FLOPs, elementwise"
        for title, count in (("parameters", self.each), (kind, self.once)):
            if count:
                ways = (count.worked(names=True), count.worked(), f"{count:,}")
                yield f"{title} = {' = '.join(dict.fromkeys(ways))}"


@dataclass(frozen=True)
class WalkReport(Report):
    command: ClassVar[str] = "walk"
    chart: ClassVar[str] = "walk"
    page: ClassVar[str] = "walk"
    batch: int
    lengths: dict[str, int]
    rows: tuple[Row, ...]
    parameters: int
    flops: int
    elementwise: int
    symbolic: bool = False
    chosen: bool = False  # one step, or those of one part, shown with their working

    def answer(self) -> str:
        sizes = {"batch": self.batch, **self.lengths}
        return " · ".join(f"{name} {size:,}" for name, size in sizes.items())

    def figures(self) -> Sequence[Figure]:
        """Of the steps that are shown, all their copies and runs."""
        found = (
            Figure("steps", len(self.rows)),
            Figure("parameters", self.parameters),
            Figure("FLOPs", self.flops, "flops", note="forward, matrix products"),
            Figure("elementwise FLOPs", self.elementwise, "flops"),
        )
        return [each for each in found if each.value or not self.chosen]

    def columns(self) -> Sequence[Column[Row]]:
        return (
            *keys("path"),
            Column("title", "step", "name"),
            Column("number", "#", "count"),
            Column("what"),
            Column("", "shape", "text", lambda row: row.shapes(symbolic=self.symbolic)),
            Column("inputs", get=lambda row: [each.record() for each in row.inputs]),
            Column("weights", get=lambda row: [each.record() for each in row.weights]),
            Column("output", get=lambda row: row.output and row.output.record()),
            *keys("formula", "copies", "runs"),
            Column("each", "parameters", "counted"),
            Column("parameters"),
            Column("parameters_worked", get=lambda row: row.each.worked()),
            Column("once", "FLOPs", "briefly"),
            Column("flops_worked", get=lambda row: row.once.worked()),
            *keys("flops", "elementwise"),
        )

    def flat(self) -> list[dict[str, Any]]:
        """With shapes in one cell each."""
        rows = zip(super().flat(), self.rows, strict=True)
        return [{**record, **_in_words(row)} for record, row in rows]

    def table(self) -> Table:
        columns = in_tables(self.columns())
        return Table(columns, tuple(self._lines(columns)))

    def _lines(self, columns: Sequence[Column[Row]]) -> Iterator[Line]:
        """Steps under the parts that they belong to, each heading once for steps in a row."""
        open_: tuple[Place, ...] = ()
        for row in self.rows:
            for depth, place in enumerate(row.places):
                if place not in open_:
                    yield Line((place.text, *[None] * (len(columns) - 1)), depth, heading=True)
            open_ = row.places
            notes = tuple(row.workings()) if self.chosen else ()
            formula = row.formula and f"{row.output.name if row.output else 'y'} = {row.formula}"
            yield Line(cells_of(columns, row), len(row.places), notes=tuple(filter(None, (formula, *notes))))

    def sizes(self) -> Iterator[tuple[str, int]]:
        for row in self.rows if self.symbolic else ():
            for each in (*row.inputs, *filter(None, [row.output])):
                yield from zip(each.dims, each.shape, strict=True)

    def facts(self) -> dict[str, Any]:
        totals = {"parameters": self.parameters, "flops": self.flops, "elementwise": self.elementwise}
        return {**super().facts(), "batch": self.batch, **self.lengths, **totals}


def _in_words(row: Row) -> dict[str, str]:
    """`x 2048×1024; y 2048×768`."""
    listed = {"inputs": row.inputs, "weights": row.weights, "output": filter(None, [row.output])}
    return {
        key: "; ".join(f"{each.name} {each.words(symbolic=False)}" for each in them) for key, them in listed.items()
    }
