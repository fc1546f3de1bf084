"""Every figure of a list of cases, compared, or with the reason why it is not: one broken case hides no other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import Any

from measured_classes import CLASSES, Class
from measured_codes import Case
from measured_peaks import band
from measured_readings import read
from measured_units import Inexpressible

from archcalc.core.errors import InputError

PRINTED = 0.006  # what llama.cpp's hundredths of a MiB may hide
UNREAD = "no class"


@dataclass(frozen=True)
class Figure:
    """One measured number and archcalc's, or why there is none."""

    case: Case
    of: str
    what: str | None = None
    measured: float | None = None
    predicted: float | None = None
    why_not: str | None = None

    @property
    def error(self) -> float | None:
        """As a fraction of what was measured."""
        return self.predicted / self.measured - 1 if self.measured and self.predicted is not None else None

    def entry(self) -> dict[str, Any]:
        """As JSON has it."""
        shown = {"id": self.case["id"], "class": self.of, "what": self.what, "measured": self.measured}
        shown |= {"predicted": self.predicted, "error": self.error, "band": band(self.case, self.of)}
        return {**shown, "why_not": self.why_not}


def figures(cases: list[Any]) -> list[Figure]:
    """In the order of the classes within each case."""
    return [figure for case in cases for figure in _of_case(case)]


def _of_case(said: Any) -> list[Figure]:
    case = read(said)
    found = [figure for one in CLASSES for figure in _of_class(case, one)]
    return found or [Figure(case, UNREAD, why_not=_unread(case))]


def _of_class(case: Case, one: Class) -> Iterator[Figure]:
    try:
        if not one.picks(case):
            return
        for what, measured, ours in one.compared(case):
            if not 0 < float(measured) < inf:
                raise Inexpressible(f"a measured figure of {measured}")
            yield _figure(case, one, what, float(measured), ours)
    except Exception as why:  # a case may be laid out in any way
        yield Figure(case, one.name, why_not=reason(why))


def _figure(case: Case, one: Class, what: str, measured: float, ours: Any) -> Figure:
    """Without a comparison where a class takes unambiguous cases alone, and this is another."""
    if one.trusted and case["trust"] != "A":
        return Figure(case, one.name, what, measured, why_not=f"of trust {case['trust']}: one thing is inferred")
    try:
        predicted = float(ours() if callable(ours) else ours)
    except Exception as why:
        return Figure(case, one.name, what, measured, why_not=reason(why))
    printed_alike = one.target == 0 and what != "parameters" and abs(measured - predicted) < PRINTED
    return Figure(case, one.name, what, measured, measured if printed_alike else predicted)


def reason(why: Exception) -> str:
    """In one line; what nobody foresaw is called by its name."""
    if isinstance(why, (Inexpressible, InputError)):
        return str(why).splitlines()[0]
    return f"laid out otherwise than is read here ({type(why).__name__}: {why})"


def _unread(case: Case) -> str:
    if not case["measured"]:
        return "nothing measured"
    return f"nothing that is compared here, of a case of kind {case['kind'] or '?'}: {', '.join(case['measured'])}"
