"""A finding: one claim, how far the measurement is from it, and whether it therefore holds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

# Rounding in float64 leaves some 1e-15 an operation; no claim here is the result of more than a few thousand.
EXACT = 1e-10


class Standing(StrEnum):
    """The expected outcome of a claim."""

    RIGHT = "right"
    WRONG = "wrong"  # found in textbooks and lecture notes, and false
    CORRECTED = "corrected"  # what such a claim should have said


@dataclass(frozen=True, slots=True)
class Finding:
    """One row of the table. `holds` follows from the numbers alone; `standing` only says what to expect."""

    claim: str
    residual: float  # the distance between the two sides of the claim, never negative
    bound: float  # the largest residual at which the claim still counts as true
    standing: Standing
    corrects: str = ""  # the wrong claim that a corrected one replaces
    identity: str = ""  # the name and the section under which `run` found it
    section: str = ""

    def __post_init__(self) -> None:
        """A NaN would neither hold nor be noticed."""
        if not (math.isfinite(self.residual) and self.residual >= 0):
            raise ValueError(f"the residual of {self.claim!r} is {self.residual}, not a distance")

    @property
    def holds(self) -> bool:
        """Whether the two sides of the claim agree."""
        return self.residual <= self.bound

    @property
    def verdict(self) -> str:
        """`holds`, as a word."""
        return "holds" if self.holds else "fails"

    @property
    def as_expected(self) -> bool:
        """A wrong claim has to fail, every other one has to hold."""
        return self.holds != (self.standing is Standing.WRONG)


Findings = tuple[Finding, ...]


def right(claim: str, residual: float, bound: float = EXACT) -> Finding:
    """A claim that has to hold."""
    return Finding(claim, float(residual), float(bound), Standing.RIGHT)


def wrong(claim: str, residual: float, bound: float = EXACT) -> Finding:
    """A textbook claim that has to fail."""
    return Finding(claim, float(residual), float(bound), Standing.WRONG)


def corrected(claim: str, residual: float, bound: float = EXACT, *, of: Finding) -> Finding:
    """What the wrong claim `of` should have said, which has to hold."""
    return Finding(claim, float(residual), float(bound), Standing.CORRECTED, corrects=of.claim)
