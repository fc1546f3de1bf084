"""A finding: one claim, how far its two sides are apart, how far they may be, and whether it therefore holds."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum


class Standing(StrEnum):
    """The expected outcome of a claim."""

    RIGHT = "right"
    WRONG = "wrong"  # believed, and false; most stood on solution sheets of a course
    CORRECTED = "corrected"  # what such a claim should have said


class Outcome(StrEnum):
    """The verdict on a claim, as a reader wants it."""

    HOLDS = "holds"
    CONDITIONAL = "holds under a condition"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Bound:
    """The largest residual at which a claim still counts as true, and why it is no smaller."""

    size: float
    why: str


# A rounding in float64 is 1.1e-16 of the number; no claim here is the result of more than a few thousand operations.
ROUNDING = Bound(1e-12, "rounding, 1e-16 of a number for each of a few thousand operations")
WHOLE = Bound(0.0, "whole numbers are equal, or they are not")
HUNDREDTH = Bound(0.01, "a relative difference, to a hundredth")
ERRORS = 4  # standard errors: a sample is further off once in 16,000 times


def sampling(error: float, samples: int) -> Bound:
    """For a number estimated from samples, given its standard error."""
    return Bound(ERRORS * error, f"{ERRORS} standard errors of {samples:,} samples")


Matrix = tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Value:
    """A measured number or matrix that is shown with a claim; `error` is a sampled number's standard error."""

    name: str
    number: float | Matrix
    error: float = 0.0


@dataclass(frozen=True, slots=True)
class Finding:
    """One row of the table. `holds` follows from the numbers alone; `standing` only says what to expect."""

    claim: str
    residual: float  # the distance between the two sides of the claim, never negative
    bound: Bound
    standing: Standing
    corrects: str = ""  # the wrong claim that a corrected one replaces
    condition: str = ""  # what has to be given for the claim to hold; empty if nothing
    sizes: str = ""  # the sizes at which it was measured
    values: tuple[Value, ...] = ()
    identity: str = ""  # the name and the section under which `run` found it
    section: str = ""

    def __post_init__(self) -> None:
        """A NaN would neither hold nor be noticed."""
        if not (math.isfinite(self.residual) and self.residual >= 0):
            raise ValueError(f"the residual of {self.claim!r} is {self.residual}, not a distance")

    def only_if(self, condition: str) -> Finding:
        """The claim under a condition."""
        return replace(self, condition=condition)

    def at(self, sizes: str) -> Finding:
        """With the sizes at which it was measured."""
        return replace(self, sizes=sizes)

    def showing(self, *values: Value) -> Finding:
        """With the numbers that were measured."""
        return replace(self, values=values)

    @property
    def holds(self) -> bool:
        """Whether the two sides of the claim agree."""
        return self.residual <= self.bound.size

    @property
    def verdict(self) -> str:
        """`holds`, as a word."""
        return "holds" if self.holds else "fails"

    @property
    def outcome(self) -> Outcome:
        """The verdict, with a word about a condition."""
        if not self.holds:
            return Outcome.WRONG
        return Outcome.CONDITIONAL if self.condition else Outcome.HOLDS

    @property
    def as_expected(self) -> bool:
        """A wrong claim has to fail, every other one has to hold."""
        return self.holds != (self.standing is Standing.WRONG)


Findings = tuple[Finding, ...]


def right(claim: str, residual: float, bound: Bound = ROUNDING) -> Finding:
    """A claim that has to hold."""
    return Finding(claim, float(residual), bound, Standing.RIGHT)


def wrong(claim: str, residual: float, bound: Bound = ROUNDING) -> Finding:
    """A claim that is believed, and has to fail."""
    return Finding(claim, float(residual), bound, Standing.WRONG)


def corrected(claim: str, residual: float, bound: Bound = ROUNDING) -> Finding:
    """What the wrong claim before it should have said, which has to hold."""
    return Finding(claim, float(residual), bound, Standing.CORRECTED)


def measured_at(sizes: str, *findings: Finding) -> Findings:
    """The findings at these sizes, except for those that name their own; a corrected one names what it corrects."""
    told = []
    for before, finding in zip((None, *findings), findings, strict=False):
        corrects = before.claim if before and finding.standing is Standing.CORRECTED else ""
        told.append(replace(finding, sizes=finding.sizes or sizes, corrects=corrects))
    return tuple(told)
