"""Every preset verified, one line each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from archcalc.core.assumptions import Topic, without
from archcalc.core.errors import InputError
from archcalc.report.base import Report
from archcalc.report.of_verify import VerifyReport
from archcalc.report.table import Column, Line, Table
from archcalc.verify.check import Progress, verify
from archcalc.verify.lengths import workload_of


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
        number = len(self.reports) + len(self.left_out)
        apart = f", {len(self.left_out)} cannot be compared" if self.left_out else ""
        return f"{'✓' if self.ok else '✗'} {right} of {number} presets equal PyTorch in all that is compared{apart}"

    def table(self) -> Table:
        """One line per preset; if it differs, the first row that does."""
        heads = (("preset", "name"), ("parameters", "count"), ("compared", "count"), ("", "text"))
        lines = []
        for name, report in self.reports.items():
            wrong = next((row for row in report.rows if not row.equal), None)
            where = f" in {', '.join(filter(None, (wrong.group, wrong.quantity)))}" if wrong else ""
            said = wrong.verdict + where if wrong else "✓"
            lines.append(Line((name, report.rows[0].archcalc, len(report.rows), said)))
        lines += [Line((name, None, None, f"– {why}")) for name, why in self.left_out.items()]
        return Table(tuple(Column[Any]("", label, unit) for label, unit in heads), tuple(lines))

    def facts(self) -> dict[str, Any]:
        return {"model": self.model, "ok": self.ok}

    def details(self) -> dict[str, Any]:
        return {"left_out": self.left_out}

    def records(self) -> list[dict[str, Any]]:
        every = [(name, row) for name, report in self.reports.items() for row in report.records()]
        keys = ("archcalc", "reference", "equal")
        return [{"quantity": f"{name}: {row['quantity']}", **{key: row[key] for key in keys}} for name, row in every]


def verify_all(progress: Progress) -> AllReport:
    """Parameters at full depth, the other rows on one period of every stack at a short sequence.

    Presets are verified side by side, in as many processes as there are cores.
    """
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    from archcalc.spec.paths import presets

    names = list(presets())
    found: dict[str, VerifyReport | str] = {}
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        for name, outcome in zip(names, pool.map(verify_preset, names), strict=True):
            progress(len(found), len(names), name)
            found[name] = outcome
    progress(len(names), len(names), "")
    reports = {name: outcome for name, outcome in found.items() if isinstance(outcome, VerifyReport)}
    left_out = {name: outcome for name, outcome in found.items() if isinstance(outcome, str)}
    assumptions = next(iter(reports.values())).assumptions if reports else ()
    return AllReport("all presets", without(assumptions, Topic.REFERENCE), reports, left_out)  # which differs by model


def verify_preset(name: str) -> VerifyReport | str:
    """The report, or why there is none."""
    import torch

    from archcalc.loading import load
    from archcalc.verify.small import with_small_images

    torch.set_num_threads(1)
    model = with_small_images(load(name))
    try:
        return verify(model, workload_of(model, quick=True), quick=True)
    except InputError as reason:
        return reason.fact
