"""How the tests here look at the identities: by name, and by the beginning of a claim."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from archcalc.identities import Finding, run

Row = Callable[[str, str], Finding]


@pytest.fixture
def row() -> Row:
    """`row("alibi-slopes", "n = 8")`: the one finding of that identity whose claim begins so."""

    def find(identity: str, beginning: str) -> Finding:
        (found,) = (finding for finding in run([identity]) if finding.claim.startswith(beginning))
        return found

    return find
