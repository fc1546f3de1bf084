"""The report of `archcalc fit --table`: what is needed over two choices, and what of it fits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from archcalc.analyze.fit.verdict import Verdict
from archcalc.analyze.memory.report import MemoryReport
from archcalc.report.base import SCHEMA_VERSION, Column, Line, Report, Table
from archcalc.spec.units import binary_bytes

Value = str | int


class Cell(NamedTuple):
    """What is needed on a device, and whether that fits."""

    required: int
    verdict: Verdict


@dataclass(frozen=True)
class MatrixReport(Report):
    """Rows by the first axis, columns by the second; None where the model does not allow both."""

    command: ClassVar[str] = "fit"
    gpu: str
    axes: tuple[str, str]
    columns: tuple[Value, ...]
    rows: tuple[tuple[Value, tuple[Cell | None, ...]], ...]
    longest: tuple[int | None, ...]  # the longest context of each row, where contexts are the columns
    memory: MemoryReport
    capacity: int

    def title(self) -> str:
        return self.memory.title()

    def answer(self) -> str:
        found = Counter(cell.verdict for _, cells in self.rows for cell in cells if cell)
        tight = f", {found[Verdict.TIGHT]} are tight" if found[Verdict.TIGHT] else ""
        unknown = f", of {found[Verdict.CANNOT_SAY]} archcalc cannot say" if found[Verdict.CANNOT_SAY] else ""
        kinds = " × ".join(axis.replace("_", " ") for axis in self.axes)
        size = binary_bytes(self.capacity)
        return f"{kinds} on {self.gpu} ({size}): {found[Verdict.FITS]} of {found.total()} fit{tight}{unknown}"

    def table(self) -> Table:
        heads = tuple(Column(f"{value:,}" if isinstance(value, int) else value, "fitting") for value in self.columns)
        longest = (Column("longest", "bound"),) if self.longest else ()
        lines = (self._line(place) for place in range(len(self.rows)))
        return Table((Column(self.axes[0].replace("_", " "), "name"), *heads, *longest), tuple(lines))

    def _line(self, place: int) -> Line:
        value, cells = self.rows[place]
        shown = tuple((cell.required, cell.verdict.name) if cell else None for cell in cells)
        name = f"{value:,}" if isinstance(value, int) else value
        return Line((name, *shown, *self.longest[place : place + 1]))

    def record(self) -> dict[str, Any]:
        return {
            "schema_version": SCHEMA_VERSION,
            "model": self.model,
            "gpu": self.gpu,
            "capacity_bytes": self.capacity,
            "axes": list(self.axes),
            **self.scope.record(),
            "assumptions": self.assumed(),
            "longest": [
                {self.axes[0]: row[0], "max_seq": most} for row, most in zip(self.rows, self.longest, strict=False)
            ],
            "rows": list(self._records()),
        }

    def _records(self) -> Iterator[dict[str, Any]]:
        """A line for each cell."""
        for value, cells in self.rows:
            for other, cell in zip(self.columns, cells, strict=True):
                yield {**dict(zip(self.axes, (value, other), strict=True)), **self._cell(cell)}

    def _cell(self, cell: Cell | None) -> dict[str, Any]:
        if cell is None:
            return dict.fromkeys(("required_bytes", "left_bytes", "verdict"))
        left = self.capacity - cell.required
        return {"required_bytes": cell.required, "left_bytes": left, "verdict": cell.verdict.value}
