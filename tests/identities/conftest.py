"""How the tests here look at the identities: by name, and by the beginning of a claim."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from archcalc.identities import Finding, run

Row = Callable[[str, str], Finding]
Measured = Callable[[str], tuple[Finding, ...]]


def numbers(finding: Finding) -> dict[str, float]:
    """The measured numbers that are shown with a claim, by name."""
    return {value.name: value.number for value in finding.values if not isinstance(value.number, tuple)}


@cache
def _findings(identity: str) -> tuple[Finding, ...]:
    """Measured once; a second run would find the same."""
    return run([identity])


@pytest.fixture(scope="session")
def measured() -> Measured:
    """The findings of an identity by its name."""
    return _findings


@pytest.fixture
def row() -> Row:
    """`row("alibi-slopes", "slopes ½")`: the finding of that identity with this claim, or the one that begins so."""

    def find(identity: str, beginning: str) -> Finding:
        findings = _findings(identity)
        exact = [finding for finding in findings if finding.claim == beginning]
        (found,) = exact or [finding for finding in findings if finding.claim.startswith(beginning)]
        return found

    return find
