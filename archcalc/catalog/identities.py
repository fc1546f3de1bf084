"""Claims about architectures as a table: each with how far its two sides are apart, and whether it therefore holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import mode
from typing import Any, ClassVar, NamedTuple

from archcalc.catalog import identity_words as words
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError, MissingExtra
from archcalc.core.words import counted
from archcalc.identities import Finding, Outcome, Standing, about, names, run, sections
from archcalc.identities.search import NothingFoundError, found, related
from archcalc.report.base import SCHEMA_VERSION, Column, Flag, Line, Quantity, Report, Table, Tone

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

    def table(self) -> Table:
        """Under each section its identities, by the names that the command takes."""
        numbers = (Column("residual", "residual"), Column("bound", "tolerance"))
        return Table((Column("claim", "name"), *numbers, Column("verdict", "text")), tuple(self._lines()))

    def _lines(self) -> Iterator[Line]:
        for section, in_section in groupby(self.findings, key=lambda finding: finding.section):
            yield Line((section, None, None, ""), 0, heading=True)
            for identity, claims in groupby(in_section, key=lambda finding: finding.identity):
                yield from self._identity(identity, tuple(claims))

    def _identity(self, name: str, claims: tuple[Finding, ...]) -> Iterator[Line]:
        """Its name and title, the sizes that most of its claims share, and the claims."""
        shared = Shared(mode(claim.sizes for claim in claims), mode(claim.bound.why for claim in claims))
        explained = (*words.derivation(about(name)), words.reason(shared.why)) if self.explain else ()
        notes = (*words.sizes(shared.sizes), *explained)
        yield Line((f"{name}: {about(name).title}", None, None, ""), 1, heading=True, notes=notes)
        yield from (self._claim(claim, shared) for claim in claims)

    def _claim(self, finding: Finding, shared: Shared) -> Line:
        outcome = finding.outcome
        verdict = VERDICTS[outcome] if finding.as_expected else f"{VERDICTS[outcome]}!"
        cells = (finding.claim, self._residual(finding), finding.bound.size, verdict)
        differs = self.explain and finding.bound.why != shared.why
        notes = (*words.notes(finding, shared.sizes), *([words.reason(finding.bound.why)] if differs else []))
        return Line(cells, 2, flag=FLAGS[finding.standing], tone=TONES[outcome], notes=notes)

    def _residual(self, finding: Finding) -> float | Quantity:
        """Whole numbers are shown as such: their 0 is no rounding. An explanation shows the digits of rounding too."""
        if finding.bound.size == 0 and finding.residual.is_integer():
            return Quantity(int(finding.residual), "count")
        if self.explain and finding.holds:
            return Quantity(finding.residual, "tolerance")
        return finding.residual

    def record(self) -> dict[str, Any]:
        """Residuals to the last digit, and everything that is known of a claim, with or without --explain."""
        rows = [words.record(finding) for finding in self.findings]
        return {"schema_version": SCHEMA_VERSION, "assumptions": self.assumed(), "rows": rows}

    def flat(self) -> list[dict[str, Any]]:
        """Lists as one text each."""
        return [words.flat(finding) for finding in self.findings]


def identities(typed: Iterable[str] = (), *, explain: bool = False) -> IdentitiesReport:
    """Measure the identities of these names, or about these words, or all of them, with PyTorch."""
    words_typed = tuple(typed)
    findings = _measured(chosen(words_typed))
    notes = [LEGEND, COLUMNS, SEEDS, *_others(words_typed)]
    return IdentitiesReport(model="identities", assumptions=tuple(notes), findings=findings, explain=explain)


def chosen(typed: Sequence[str]) -> list[str]:
    """The names of the identities that were asked for."""
    if any(not word.strip() for word in typed):
        raise InputError("a word to look for is empty", "without any word, all identities are shown")
    try:
        return found(typed) if typed else names()
    except NothingFoundError as error:
        guess = f"topics: {', '.join(section.title for section in sections())}"
        if error.nearest:
            guess = f"did you mean {' or '.join(error.nearest)}?"
        raise InputError(f"no identity is about {error.word}", f"{guess} (--list shows all)") from None


def _others(typed: Sequence[str]) -> list[Assumption]:
    """What else is about the same, where a word is the name of one identity and found in others."""
    exact = [word for word in typed if word in names()]
    others = related(exact) if len(exact) == len(typed) else []
    if not others:
        return []
    return [Assumption(Topic.SCOPE, f"on the same subject: {', '.join(others)}")]


def _measured(wanted: Sequence[str]) -> tuple[Finding, ...]:
    try:
        return run(wanted)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingExtra("PyTorch", "verify") from None
