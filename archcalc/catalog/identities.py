"""Claims about architectures as a table: each with how far its two sides are apart, and whether it therefore holds; and
a list of them with their derivations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import floor, log10
from statistics import mode
from typing import Any, ClassVar, NamedTuple

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError, MissingExtra
from archcalc.core.words import counted
from archcalc.identities import Finding, Outcome, Standing, Value, about, names, run, section, sections
from archcalc.identities.search import NothingFoundError, found, related
from archcalc.identities.texts import About
from archcalc.report.base import Report
from archcalc.report.table import (
    Column,
    Flag,
    Line,
    Matrix,
    Table,
    cells_of,
    heading,
    in_tables,
    keys,
    records_of,
)
from archcalc.report.units import Quantity, Tone, unit

SEEDS = Assumption(Topic.EXACTNESS, "float64, fixed seeds; ± is one standard error")
LEGEND = Assumption(
    Topic.TABLE,
    "✓ holds; ✗ wrong; → what the wrong claim above should say; holds if: under the condition beneath it",
)
COLUMNS = Assumption(
    Topic.TABLE,
    "residual: how far the two sides of a claim are apart at most, ≈ 0 if only by rounding;"
    " bound: how far they may be, for reasons that --explain gives",
)
FLAGS: dict[Standing, Flag] = {Standing.RIGHT: "right", Standing.WRONG: "wrong", Standing.CORRECTED: "corrected"}
TONES: dict[Outcome, Tone] = {Outcome.HOLDS: "good", Outcome.CONDITIONAL: "fair", Outcome.WRONG: "bad"}
VERDICTS = {Outcome.HOLDS: "holds", Outcome.CONDITIONAL: "holds if", Outcome.WRONG: "wrong"}
DECIMALS = 4  # of a sampled number, at the most
ROUNDING = 1e-10  # in float64, after a few thousand operations at the most


def residual(value: float) -> str:
    """Rounding errors differ from machine to machine, so their digits are not printed."""
    if value < ROUNDING:
        return "≈ 0"
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


unit("residual", residual)
unit("tolerance", lambda value: f"{value:.2g}")


class Shared(NamedTuple):
    """What most claims of an identity have in common, and is said once."""

    sizes: str
    why: str  # its bound is as large as it is


@dataclass(frozen=True)
class IdentitiesReport(Report):
    """The findings, section by section."""

    command: ClassVar[str] = "identities"
    findings: tuple[Finding, ...]
    explain: bool = False

    @property
    def as_expected(self) -> bool:
        """Every right claim held, and every wrong one failed."""
        return all(finding.as_expected for finding in self.findings)

    def answer(self) -> str:
        """How many claims hold, and how many are wrong."""
        outcomes = [finding.outcome for finding in self.findings]
        failing, conditional = outcomes.count(Outcome.WRONG), outcomes.count(Outcome.CONDITIONAL)
        under = f" ({conditional} under a condition)" if conditional else ""
        do_not = counted(failing, "does not", "do not")
        told = f"{len(outcomes) - failing} of {len(outcomes)} claims hold{under}, {do_not}"
        unexpected = sum(not finding.as_expected for finding in self.findings)
        return f"{told}; {unexpected} not as expected" if unexpected else told

    def columns(self) -> tuple[Column[Finding], ...]:
        """Residuals to the last digit, and everything that is known of a claim, with or without --explain."""
        return (
            *keys("section", "identity"),
            Column("claim", "claim", "name"),
            *keys("standing", "corrects", "residual"),
            Column("", "residual", "residual", self._residual),
            Column("bound", "bound", "tolerance", "bound.size"),
            Column("verdict"),
            Column("", "verdict", "text", lambda finding: VERDICTS[finding.outcome] + "!" * (not finding.as_expected)),
            Column("outcome", get=lambda finding: str(finding.outcome)),
            *keys("condition", "sizes"),
            Column("bound_reason", get="bound.why"),
            Column("values", get=lambda finding: [_value(each) for each in finding.values]),
            Column("title", get=lambda finding: about(finding.identity).title),
            Column("derivation", get=lambda finding: list(about(finding.identity).steps)),
            Column("sources", get=lambda finding: list(about(finding.identity).sources)),
            Column("words", get=lambda finding: list(about(finding.identity).words)),
        )

    def table(self) -> Table:
        """Under each section its identities, by the names that the command takes."""
        columns, lines = in_tables(self.columns()), list[Line]()
        for title, in_section in groupby(self.findings, key=lambda finding: finding.section):
            lines.append(heading(title, columns))
            for identity, claims in groupby(in_section, key=lambda finding: finding.identity):
                lines += self._identity(identity, tuple(claims), columns)
        return Table(columns, tuple(lines))

    def _identity(self, name: str, claims: tuple[Finding, ...], columns: Sequence[Column[Finding]]) -> Iterator[Line]:
        """Its name and title, the sizes that most of its claims share, and the claims."""
        shared = Shared(mode(claim.sizes for claim in claims), mode(claim.bound.why for claim in claims))
        explained = (*_derivation(about(name)), f"bound: {shared.why}") if self.explain else ()
        sizes = [f"with {shared.sizes}"] if shared.sizes else []
        yield heading(f"{name}: {about(name).title}", columns, 1, (*sizes, *explained))
        for claim in claims:
            differs = self.explain and claim.bound.why != shared.why
            notes = (*_notes(claim, shared.sizes), *([f"bound: {claim.bound.why}"] if differs else []))
            flag, tone = FLAGS[claim.standing], TONES[claim.outcome]
            yield Line(cells_of(columns, claim), 2, flag=flag, tone=tone, notes=notes)

    def _residual(self, finding: Finding) -> float | Quantity:
        """Whole numbers are shown as such: their 0 is no rounding. An explanation shows the digits of rounding too."""
        if finding.bound.size == 0 and finding.residual.is_integer():
            return Quantity(int(finding.residual), "count")
        if self.explain and finding.holds:
            return Quantity(finding.residual, "tolerance")
        return finding.residual

    def facts(self) -> dict[str, Any]:
        return {}

    def records(self) -> list[dict[str, Any]]:
        return records_of(self.columns(), self.findings)

    def flat(self) -> list[dict[str, Any]]:
        """Lists as one text each."""
        rows = zip(self.records(), self.findings, strict=True)
        shown = [(row, "; ".join(map(_flat_value, finding.values))) for row, finding in rows]
        return [row | {"values": values} | {key: "; ".join(row[key]) for key in LISTS} for row, values in shown]


def identities(typed: Iterable[str] = (), *, explain: bool = False) -> IdentitiesReport:
    """Measure the identities of these names, or about these words, or all of them, with PyTorch."""
    wanted = tuple(typed)
    try:
        findings = run(chosen(wanted))
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingExtra("PyTorch", "verify") from None
    notes = [LEGEND, COLUMNS, SEEDS]
    # What else is about the same, where a word is the name of one identity and found in others.
    if all(word in names() for word in wanted) and (others := related(wanted)):
        notes.append(Assumption(Topic.SCOPE, f"on the same subject: {', '.join(others)}"))
    return IdentitiesReport(model="identities", assumptions=tuple(notes), findings=findings, explain=explain)


def chosen(typed: Sequence[str]) -> list[str]:
    """The names of the identities that were asked for."""
    if any(not word.strip() for word in typed):
        raise InputError("a word to look for is empty", "without any word, all identities are shown")
    try:
        return found(typed) if typed else names()
    except NothingFoundError as error:
        guess = f"topics: {', '.join(each.title for each in sections())}"
        if error.nearest:
            guess = f"did you mean {' or '.join(error.nearest)}?"
        raise InputError(f"no identity is about {error.word}", f"{guess} (--list shows all)") from None


@dataclass(frozen=True)
class IdentityListReport(Report):
    """Names under their sections."""

    command: ClassVar[str] = "identities"
    names: tuple[str, ...]
    explain: bool = False

    def answer(self) -> str:
        return counted(len(self.names), "identity", "identities")

    def columns(self) -> tuple[Column[str], ...]:
        return LISTED

    def table(self) -> Table:
        columns, lines = in_tables(LISTED), []
        for title, inside in groupby(self.names, key=section):
            lines.append(heading(title, columns))
            for name in inside:
                notes = _derivation(about(name)) if self.explain else ()
                lines.append(Line(cells_of(columns, name), 1, notes=notes))
        return Table(columns, tuple(lines))

    def facts(self) -> dict[str, Any]:
        return {}

    def records(self) -> list[dict[str, Any]]:
        return records_of(LISTED, self.names)

    def flat(self) -> list[dict[str, Any]]:
        return [row | {key: "; ".join(row[key]) for key in LISTS} for row in self.records()]


LISTS = ("derivation", "sources", "words")
LISTED: tuple[Column[str], ...] = (
    Column("identity", "name", "name", str),
    Column("section", get=section),
    Column("title", "what it is about", "text", lambda name: about(name).title),
    Column("derivation", get=lambda name: list(about(name).steps)),
    Column("sources", get=lambda name: list(about(name).sources)),
    Column("words", get=lambda name: list(about(name).words)),
)


def identity_list(typed: Iterable[str] = (), *, explain: bool = False) -> IdentityListReport:
    """Those of these names or about these words, or all: a list that needs no PyTorch."""
    wanted = tuple(chosen(tuple(typed)))
    return IdentityListReport(model="identities", assumptions=(), names=wanted, explain=explain)


def _derivation(known: About) -> tuple[str, ...]:
    """Numbered steps, then where it stands in print."""
    steps = (f"{number}. {step}" for number, step in enumerate(known.steps, start=1))
    return (*steps, *(f"source: {source}" for source in known.sources))


def _notes(finding: Finding, shared_sizes: str) -> tuple[str | Matrix, ...]:
    """What stands beneath a claim: its condition, its sizes if they are its own, and the numbers that came of it."""
    own_sizes = f"with {finding.sizes}" if finding.sizes and finding.sizes != shared_sizes else ""
    condition = f"if {finding.condition}" if finding.condition else ""
    numbers = ", ".join(_number(value) for value in finding.values if not isinstance(value.number, tuple))
    under = " · ".join(part for part in (condition, own_sizes) if part)
    matrices = (Matrix(value.name, value.number) for value in finding.values if isinstance(value.number, tuple))
    return (*(text for text in (under, numbers) if text), *matrices)


def _number(each: Value) -> str:
    """`mean: 0.4996 ± 0.0011`, with as many decimals as its standard error leaves; without an error, four digits.

    Whole numbers are counts, and are written in full.
    """
    assert not isinstance(each.number, tuple)
    if isinstance(each.number, int):
        return f"{each.name}: {_minus(f'{each.number:,}')}"
    if not each.error:
        return f"{each.name}: {_minus(f'{each.number:.4g}')}"
    decimals = min(max(1 - floor(log10(each.error)), 0), DECIMALS)
    return f"{each.name}: {each.number:,.{decimals}f} ± {each.error:.{decimals}f}"


def _value(each: Value) -> dict[str, Any]:
    """As programs read it."""
    return {"name": each.name, "value": each.number, "standard_error": each.error or None}


def _flat_value(each: Value) -> str:
    """`mean = 0.4996337 ± 0.00105`, or the rows of a matrix with a comma between."""
    if isinstance(each.number, tuple):
        return f"{each.name} = {', '.join(' '.join(f'{entry:.6g}' for entry in row) for row in each.number)}"
    error = f" ± {each.error:.3g}" if each.error else ""
    return f"{each.name} = {each.number:.7g}{error}"


def _minus(text: str) -> str:
    """With the sign that the claims are written with."""
    return f"−{text[1:]}" if text.startswith("-") else text
