"""The report of `archcalc fit --table`: what is needed over two choices, and what of it fits."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from archcalc.analyze.fit.verdict import Verdict
from archcalc.analyze.memory.report import MemoryReport
from archcalc.report.base import Report
from archcalc.report.table import Column, Line, Table
from archcalc.report.units import unit
from archcalc.spec.units import binary_bytes

Value = str | int

unit("fitting", lambda cell: f"{cell.required / 2**30:,.1f} {cell.verdict.mark}")  # GiB, and whether that fits


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
    across: tuple[Value, ...]
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
        heads = [Column[Any]("", _worded(value), "fitting") for value in self.across]
        first = Column[Any]("", self.axes[0].replace("_", " "), "name")
        last = [Column[Any]("", "longest", "bound")] if self.longest else []
        lines = [
            Line((_worded(value), *cells, *self.longest[place : place + 1]))
            for place, (value, cells) in enumerate(self.rows)
        ]
        return Table((first, *heads, *last), tuple(lines))

    def facts(self) -> dict[str, Any]:
        head = {"model": self.model, "gpu": self.gpu, "capacity_bytes": self.capacity, "axes": list(self.axes)}
        return {**head, **self.scope.record()}

    def details(self) -> dict[str, Any]:
        longest = zip(self.rows, self.longest, strict=False)
        return {"longest": [{self.axes[0]: row[0], "max_seq": most} for row, most in longest]}

    def records(self) -> list[dict[str, Any]]:
        """A line for each cell."""
        every = [(value, *pair) for value, cells in self.rows for pair in zip(self.across, cells, strict=True)]
        return [{self.axes[0]: one, self.axes[1]: other, **self._cell(cell)} for one, other, cell in every]

    def _cell(self, cell: Cell | None) -> dict[str, Any]:
        if cell is None:
            return dict.fromkeys(("required_bytes", "left_bytes", "verdict"))
        left = self.capacity - cell.required
        return {"required_bytes": cell.required, "left_bytes": left, "verdict": cell.verdict.value}


def _worded(value: Value) -> str:
    return f"{value:,}" if isinstance(value, int) else value
