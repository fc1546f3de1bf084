"""A finding in words: what stands beneath a claim, and its row for programs."""

from __future__ import annotations

from math import floor, log10
from typing import TYPE_CHECKING, Any

from archcalc.identities import Finding, Value
from archcalc.report.table import Matrix

if TYPE_CHECKING:
    from archcalc.identities.texts import About

DECIMALS = 4  # of a sampled number, at the most


def derivation(known: About) -> tuple[str, ...]:
    """Numbered steps, then where it stands in print."""
    steps = (f"{number}. {step}" for number, step in enumerate(known.steps, start=1))
    return (*steps, *(f"source: {source}" for source in known.sources))


def notes(finding: Finding, shared_sizes: str) -> tuple[str | Matrix, ...]:
    """What stands beneath a claim: its condition, its sizes if they are its own, and the numbers that came of it."""
    own_sizes = f"with {finding.sizes}" if finding.sizes and finding.sizes != shared_sizes else ""
    condition = f"if {finding.condition}" if finding.condition else ""
    numbers = ", ".join(number(value) for value in finding.values if not isinstance(value.number, tuple))
    under = " · ".join(part for part in (condition, own_sizes) if part)
    matrices = (Matrix(value.name, value.number) for value in finding.values if isinstance(value.number, tuple))
    return (*(text for text in (under, numbers) if text), *matrices)


def number(each: Value) -> str:
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


def flat(row: dict[str, Any], finding: Finding) -> dict[str, Any]:
    """A row with a text for each list."""
    shown = "; ".join(_flat_value(each) for each in finding.values)
    return row | {"values": shown} | {key: "; ".join(row[key]) for key in ("derivation", "sources", "words")}


def value(each: Value) -> dict[str, Any]:
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
