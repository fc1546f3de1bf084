"""Log or linear: as asked for, else as the values are spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from archcalc.analyze.plot.axes import Axis
from archcalc.core.errors import InputError
from archcalc.spec.option_checks import names

SCALES = ("x", "y")
FAR = 8  # times the first value: from there on an axis may be one of doublings


@dataclass(frozen=True)
class Scales:
    """Axes that were asked to be of one kind or the other."""

    log: tuple[str, ...] = ()
    linear: tuple[str, ...] = ()

    @classmethod
    def of(cls, log: str | Sequence[str] | None, linear: str | Sequence[str] | None) -> Scales:
        found = cls(_axes(log, "--log"), _axes(linear, "--linear"))
        both = [name for name in found.log if name in found.linear]
        if both:
            raise InputError(f"{both[0]} is log or linear, not both", "leave one out", field="--linear")
        return found

    def wanted(self, name: str) -> bool | None:
        """Whether log; None where that is left open."""
        if name in (*self.log, *self.linear):
            return name in self.log
        return None


def _axes(written: str | Sequence[str] | None, flag: str) -> tuple[str, ...]:
    if written is None:
        return ()
    found = tuple(name.lower() for name in names(written, flag) or ())
    for name in found:
        if name not in SCALES:
            raise InputError(f"no axis is called {name}", f"write {flag} x, {flag} y or {flag} x,y", field=flag)
    return found


def is_log(x: Axis, scales: Scales) -> bool:
    """Where it was left open: whether the values are far apart, and the middle ones are nearer to what lies between the
    ends by ratio than to what lies between them by difference."""
    wanted = scales.wanted("x")
    sizes = [value for value in x.values if isinstance(value, int)]
    if wanted and (not x.numeric or not sizes[0]):
        raise InputError("0 and names have no place on a log axis", "leave x out", field="--log")
    if not x.numeric or wanted is not None:
        return bool(wanted)
    first, last = sizes[0], sizes[-1]
    median = (sizes[(len(sizes) - 1) // 2] + sizes[len(sizes) // 2]) / 2
    return first > 0 and last >= FAR * first and median**2 < sqrt(first * last) * (first + last) / 2
