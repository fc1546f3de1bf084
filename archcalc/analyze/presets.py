"""What can be named instead of a file: every preset with its family, its parameters and its source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from archcalc import data
from archcalc.errors import InputError
from archcalc.loading import load
from archcalc.report import SCHEMA_VERSION, Column, Line, Report, Table


@dataclass(frozen=True)
class Row:
    name: str
    family: str
    parameters: int | None  # None where the file is at fault
    source: str


@dataclass(frozen=True)
class PresetsReport(Report):
    command: ClassVar[str] = "presets"
    rows: tuple[Row, ...]

    def answer(self) -> str:
        return f"{len(self.rows)} presets"

    def table(self) -> Table:
        columns = (
            Column("name", "name"),
            Column("family", "text"),
            Column("parameters", "count"),
            Column("source", "text"),
        )
        return Table(columns, tuple(Line((row.name, row.family, row.parameters, row.source), 0) for row in self.rows))

    def record(self) -> dict[str, Any]:
        rows = [vars(row) for row in self.rows]
        return {"schema_version": SCHEMA_VERSION, "assumptions": list(self.assumptions), "rows": rows}


def presets() -> PresetsReport:
    """One line each, smallest family first; a file that cannot be read is listed with its mistake, not hidden."""
    rows = tuple(_row(name) for name in sorted(data.presets()))
    return PresetsReport(model="presets", assumptions=("every count is exact",), rows=rows)


def _row(name: str) -> Row:
    try:
        model = load(str(data.presets()[name]))
        return Row(name, model.kind, int(model.params().total), model.spec.source or "")
    except InputError as error:
        return Row(name, "", None, f"cannot be read: {error.fact}")
