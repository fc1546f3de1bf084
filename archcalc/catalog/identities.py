"""Claims about architectures as a table: each with how far its two sides are apart, and whether it therefore holds."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError, MissingExtra, did_you_mean
from archcalc.identities import Finding, Standing, names, run
from archcalc.report.base import SCHEMA_VERSION, Column, Flag, Line, Report, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROUNDING = Assumption(Topic.EXACTNESS, "float64, fixed seeds; differences below 1e-10 are rounding")
CORRECTIONS = Assumption(Topic.TABLE, "✗ a wrong claim, as textbooks and lecture notes have it; → what it should say")
FLAGS: dict[Standing, Flag] = {Standing.RIGHT: "", Standing.WRONG: "wrong", Standing.CORRECTED: "corrected"}


@dataclass(frozen=True)
class IdentitiesReport(Report):
    """The findings, section by section."""

    command: ClassVar[str] = "identities"
    findings: tuple[Finding, ...]

    @property
    def as_expected(self) -> bool:
        """Every right claim held, and every wrong one failed."""
        return all(finding.as_expected for finding in self.findings)

    def answer(self) -> str:
        """How many claims hold, and how many are wrong."""
        holding = sum(finding.holds for finding in self.findings)
        failing = len(self.findings) - holding
        unexpected = sum(not finding.as_expected for finding in self.findings)
        told = f"{holding} of {len(self.findings)} claims hold, {failing} {'does' if failing == 1 else 'do'} not"
        return f"{told}; {unexpected} not as expected" if unexpected else told

    def table(self) -> Table:
        """Under each section its identities, by the names that the command takes."""
        columns = (Column("claim", "name"), Column("residual", "residual"), Column("", "text"))
        return Table(columns, tuple(self._lines()))

    def _lines(self) -> Iterator[Line]:
        for section, found in groupby(self.findings, key=lambda finding: finding.section):
            yield Line((section, None, ""), 0, heading=True)
            for identity, claims in groupby(found, key=lambda finding: finding.identity):
                yield Line((identity, None, ""), 1, heading=True)
                yield from (_line(finding) for finding in claims)

    def record(self) -> dict[str, Any]:
        """Residuals to the last digit."""
        return {
            "schema_version": SCHEMA_VERSION,
            "assumptions": self.assumed(),
            "rows": [_row(finding) for finding in self.findings],
        }


def _line(finding: Finding) -> Line:
    verdict = finding.verdict if finding.as_expected else f"{finding.verdict}!"
    return Line((finding.claim, finding.residual, verdict), 2, flag=FLAGS[finding.standing])


def _row(finding: Finding) -> dict[str, Any]:
    keys = ("section", "identity", "claim", "standing", "corrects", "residual", "bound", "verdict")
    return {key: getattr(finding, key) for key in keys}


def identities(chosen: Iterable[str] = ()) -> IdentitiesReport:
    """Measure the identities of these names, or all of them, with PyTorch."""
    wanted = tuple(chosen) or tuple(names())
    for name in wanted:
        if name not in names():
            raise InputError(f"no identity is called {name}", f"{did_you_mean(name, names())} (--list shows all)")
    findings = _measured(wanted)
    notes = [ROUNDING]
    if any(finding.standing is Standing.WRONG for finding in findings):
        notes.append(CORRECTIONS)
    return IdentitiesReport(model="identities", assumptions=tuple(notes), findings=findings)


def _measured(wanted: tuple[str, ...]) -> tuple[Finding, ...]:
    try:
        return run(wanted)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingExtra("PyTorch", "verify") from None
