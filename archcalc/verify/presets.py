"""Every preset verified, one line each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from archcalc.errors import InputError
from archcalc.report import SCHEMA_VERSION, Column, Line, Report, Table
from archcalc.verify.check import Progress, verify, workload_of
from archcalc.verify.report import VerifyReport


@dataclass(frozen=True)
class AllReport(Report):
    """`ok` if every preset agrees in every row."""

    command: ClassVar[str] = "verify"
    reports: dict[str, VerifyReport]
    left_out: dict[str, str]  # presets that cannot be compared, and why

    @property
    def ok(self) -> bool:
        """Every preset agrees in every row."""
        return all(report.ok for report in self.reports.values())

    def answer(self) -> str:
        """How many presets agree."""
        right = sum(report.ok for report in self.reports.values())
        return f"{'✓' if self.ok else '✗'} {right} of {len(self.reports)} presets equal PyTorch in every quantity"

    def table(self) -> Table:
        """One line a preset; where it differs, the first row that does."""
        columns = (Column("preset", "name"), Column("parameters", "count"), Column("compared", "count"))
        lines = [Line((name, *_cells(report))) for name, report in self.reports.items()]
        lines += [Line((name, None, None, f"– {why}")) for name, why in self.left_out.items()]
        return Table((*columns, Column("", "text")), tuple(lines))

    def record(self) -> dict[str, Any]:
        """Plain data with stable keys."""
        rows = [
            {"quantity": f"{name}: {row['quantity']}", **{key: row[key] for key in ("archcalc", "reference", "equal")}}
            for name, report in self.reports.items()
            for row in report.record()["rows"]
        ]
        return {
            "schema_version": SCHEMA_VERSION,
            "model": self.model,
            "ok": self.ok,
            "assumptions": list(self.assumptions),
            "left_out": self.left_out,
            "rows": rows,
        }


def _cells(report: VerifyReport) -> tuple[Any, ...]:
    wrong = next((row for row in report.rows if not row.equal), None)
    said = "✓" if wrong is None else f"{wrong.verdict} in {', '.join(filter(None, (wrong.group, wrong.quantity)))}"
    return report.rows[0].archcalc, len(report.rows), said


def verify_all(progress: Progress) -> AllReport:
    """Parameters at full depth, the other rows on one period of every stack at a short sequence."""
    from archcalc.data import presets
    from archcalc.loading import load

    found = presets()
    reports: dict[str, VerifyReport] = {}
    left_out: dict[str, str] = {}
    for index, name in enumerate(found):
        progress(index, len(found), name)
        model = load(name)
        try:
            reports[name] = verify(model, workload_of(model, quick=True), quick=True)
        except InputError as reason:
            left_out[name] = reason.fact
    progress(len(found), len(found), "")
    assumptions = next(iter(reports.values())).assumptions[:2] if reports else ()
    return AllReport("all presets", tuple(assumptions), reports, left_out)
