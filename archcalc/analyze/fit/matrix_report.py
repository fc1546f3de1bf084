"""The report of `archcalc fit --table`: what fits over two choices, and how far it can grow there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from archcalc.analyze.fit.matrix_axes import Value
from archcalc.analyze.fit.matrix_cell import Cell, Refusal
from archcalc.analyze.fit.matrix_sentence import counted, on_cards, size, worded
from archcalc.analyze.fit.matrix_units import HEADINGS, MEANS, SOLD, UNIT
from archcalc.report.base import Report
from archcalc.report.table import Column, Line, Table
from archcalc.report.units import Quantity, Tone
from archcalc.run.device import DeviceGroup
from archcalc.spec.units import binary_bytes

GROWN = {"context": "max_seq", "batch": "max_batch"}  # what programs read of a cell, by its kind


@dataclass(frozen=True)
class MatrixReport(Report):
    """Rows by the first axis, columns by the second."""

    command: ClassVar[str] = "fit"
    chart: ClassVar[str] = "matrix"
    kind: str  # of the cells: context, batch or memory
    gpus: Mapping[str, DeviceGroup]
    axes: tuple[str, str]
    across: tuple[Value, ...]
    rows: tuple[tuple[Value, tuple[Cell | Refusal, ...]], ...]
    longest: tuple[int | None, ...] = ()  # context of each row, where contexts are the columns

    def title(self) -> str:
        """What all cells share of their runs."""
        first, *others = [cell.row.memory for cell in self.answered()]
        choices = tuple(each for each in first.choices if all(each in other.choices for other in others))
        cards = first.cards if "gpu" not in self.axes else ""
        return replace(first, model=self.model, cards=cards, choices=choices).title()

    def caption(self) -> str:
        return f"{self.model}: {self.answer()}"

    def answered(self) -> Iterator[Cell]:
        return (cell for _, cells in self.rows for cell in cells if isinstance(cell, Cell))

    def answer(self) -> str:
        lines = [(value, list(zip(self.across, cells, strict=True))) for value, cells in self.rows]
        if self.axes[1] == "gpu":
            return on_cards(self.axes[0], lines, self.gpus)
        if self.axes[0] == "gpu":
            across = [
                (value, [(card, cells[place]) for card, cells in self.rows]) for place, value in enumerate(self.across)
            ]
            return on_cards(self.axes[1], across, self.gpus)
        (card,) = self.gpus.values()
        where = f"{card.name} ({binary_bytes(card.first.capacity)})"
        return counted((cell for _, cells in self.rows for cell in cells), where)

    def beneath(self) -> Sequence[str]:
        kinds = " × ".join(axis.replace("-", " ") for axis in self.axes)
        return (f"{kinds}, {MEANS[self.kind]}",)

    def table(self) -> Table:
        unit = UNIT[self.kind]
        heads = [self._head(value, unit) for value in self.across]
        sizes = [Column[Any]("", "memory", "text")] if self.axes[0] == "gpu" else []
        last = [Column[Any]("", "longest", "bound")] if self.longest else []
        lines = [self._line(place) for place in range(len(self.rows))]
        if self.axes[1] == "gpu":
            cards = [Quantity(size(self.gpus[str(value)]), SOLD) for value in self.across]
            lines.insert(0, Line(("", *cards, *[None] * len(last)), quiet=True))
        return Table((Column("", self.axes[0].replace("-", " "), "name"), *sizes, *heads, *last), tuple(lines))

    def _head(self, value: Value, unit: str) -> Column[Any]:
        label = worded(self.axes[1], value)
        brief = HEADINGS.get(self.axes[1], str)(label)
        others = [HEADINGS.get(self.axes[1], str)(worded(self.axes[1], other)) for other in self.across]
        return Column("", label, unit, brief=brief if others.count(brief) == 1 else "")

    def _line(self, place: int) -> Line:
        value, cells = self.rows[place]
        sizes = [size(self.gpus[str(value)])] if self.axes[0] == "gpu" else []
        longest = self.longest[place : place + 1]
        tones: list[Tone] = [cell.verdict.tone if isinstance(cell, Cell) else "" for cell in cells]
        before: list[Tone] = [""] * (1 + len(sizes))
        return Line((worded(self.axes[0], value), *sizes, *cells, *longest), tones=(*before, *tones))

    def facts(self) -> dict[str, Any]:
        alone = [card for card in self.gpus.values() if "gpu" not in self.axes]
        one = {"gpu": alone[0].name, "capacity_bytes": alone[0].first.capacity} if alone else {}
        head = {"summary": self.answer(), "model": self.model, **one, "axes": [_key(axis) for axis in self.axes]}
        return {**head, "cell": self.kind, **self.scope.record()}

    def details(self) -> dict[str, Any]:
        longest = zip(self.rows, self.longest, strict=False)
        return {"longest": [{_key(self.axes[0]): row[0], "max_seq": most} for row, most in longest]}

    def records(self) -> list[dict[str, Any]]:
        """A line for each cell."""
        first, second = map(_key, self.axes)
        every = [(value, *pair) for value, cells in self.rows for pair in zip(self.across, cells, strict=True)]
        return [{first: one, second: other, **self._record(cell)} for one, other, cell in every]

    def _record(self, cell: Cell | Refusal) -> dict[str, Any]:
        """What has no answer has the same keys, and why."""
        found: dict[str, Any] = dict.fromkeys(("required_bytes", "left_bytes", "verdict"))
        grown = [key for kind, key in GROWN.items() if kind == self.kind]
        if isinstance(cell, Refusal):
            return {**found, **dict.fromkeys(grown), "engine": None, "why": cell.fact, "command": cell.command}
        found = {"required_bytes": cell.required, "left_bytes": cell.left, "verdict": cell.verdict.value}
        size = dict.fromkeys(grown, cell.growth.most if cell.growth else None)
        return {**found, **size, "engine": cell.engine, "why": cell.row.why, "command": cell.command}


def _key(axis: str) -> str:
    return axis.replace("-", "_")
