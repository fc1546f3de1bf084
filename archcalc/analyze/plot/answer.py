"""Curves of memory, FLOPs and parameters over a field of the spec or an option.

    plot([("llama-3-8b", model)], x="seq=1k..128k", y="memory,cache", by="weights", gpus=["rtx-4090"])

Every point is what `archcalc params`, `flops` or `memory` answers with the same options, to the last digit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from archcalc.analyze.plot.axes import Axis, Written, axis
from archcalc.analyze.plot.curves import Family, families
from archcalc.analyze.plot.measures import USUAL, Measure, measures
from archcalc.analyze.plot.notes import notes
from archcalc.analyze.plot.panels import MEMORY, panels
from archcalc.analyze.plot.report import PlotReport
from archcalc.analyze.plot.settings import check_effects, check_given, described
from archcalc.analyze.plot.subject import Subject
from archcalc.core.errors import InputError
from archcalc.report.picture import Curves, Limit
from archcalc.run.device import device

if TYPE_CHECKING:
    from archcalc.model import Model

DOUBLED = 8  # times the first value: from there on the axis is one of doublings
SCALES = ("x", "y")


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
        return True if name in self.log else (False if name in self.linear else None)


def _axes(written: str | Sequence[str] | None, flag: str) -> tuple[str, ...]:
    names = written.split(",") if isinstance(written, str) else list(written or ())
    found = tuple(str(name).strip().lower() for name in names)
    for name in found:
        if name not in SCALES:
            raise InputError(f"no axis is called {name or 'nothing'}", f"write {flag} x, y or x,y", field=flag)
    return found


def plotted(
    models: Sequence[tuple[str, Model]],
    x: Written,
    y: str | Sequence[str] = USUAL,
    by: Written | None = None,
    gpus: Iterable[str] = (),
    scales: Scales = Scales(),
    options: Mapping[str, Any] = {},
) -> PlotReport:
    """Models by their labels; options as `archcalc memory` and `flops` take them."""
    asked, named = measures(y), list(gpus)
    subjects = [Subject(label, model, dict(options)) for label, model in models]
    over = axis(x, "--x", subjects)
    apart = axis(by, "--by", subjects) if by else None
    check_given(options, over, apart)
    check_effects(asked, options, over, apart)
    limits = _limits(named, asked, subjects[0])
    drawn, refused = families(subjects, over, apart, asked)
    _check_heights(drawn, asked, scales)
    made, met = panels(drawn, limits, scales.wanted("y"))
    report = PlotReport(
        model=" · ".join(dict.fromkeys(_name(label, models) for label, _ in models)),
        assumptions=(),
        scope=models[0][1].scope,
        about=described(asked, over, apart, subjects[0]),
        x=over,
        by=apart,
        measures=asked,
        families=tuple(drawn),
        chart=Curves("", "", over.name, over.values, made, over.numeric, _is_log(over, scales), over.of_bytes),
        met=met,
    )
    return notes(report, refused, named)


def _name(label: str, models: Sequence[tuple[str, Model]]) -> str:
    """One model by its own name, several as they were typed."""
    return models[0][1].name if len(models) == 1 else label


def _is_log(x: Axis, scales: Scales) -> bool:
    wanted = scales.wanted("x")
    sizes = [value for value in x.values if isinstance(value, int)]
    if wanted and (not x.numeric or not sizes[0]):
        raise InputError("0 and names have no place on a log axis", "leave x out", field="--log")
    if not x.numeric or wanted is not None:
        return bool(wanted)
    return sizes[0] > 0 and sizes[-1] >= DOUBLED * sizes[0] and _is_geometric(sizes)


def _is_geometric(sizes: Sequence[int]) -> bool:
    """Whether the middle one is nearer to the middle of their digits than to that of their sum."""
    middle = sizes[len(sizes) // 2]
    return middle * 4 < sizes[0] + sizes[-1] or len(sizes) < 3


def _limits(gpus: Sequence[str], asked: Sequence[Measure], subject: Subject) -> list[Limit]:
    if not gpus:
        return []
    if not any(one.name == MEMORY for one in asked):
        raise InputError("a device's memory is drawn beside memory", "add memory to --y", field="--gpu")
    if subject.memory.case.engine.fills_device:
        hint = "leave --gpu or --engine out; `archcalc fit` says how long a context such an engine holds"
        raise InputError("a serving engine fills whatever a device has", hint, field="--gpu")
    found = [device(name) for name in gpus]
    return [Limit(name, one.capacity) for name, one in dict(found).items()]


def _check_heights(drawn: Sequence[Family], asked: Sequence[Measure], scales: Scales) -> None:
    """Refuse what is 0 everywhere, and 0 on a log axis."""
    for one in asked:
        heights = {family.value(one, place) for family in drawn for place in family.drawn}
        if heights == {0}:
            hint = "leave it out, or add --mode train or infer where it is kept"
            raise InputError(f"{one.title}: 0 at every point", hint, field="--y")
        if 0 in heights and scales.wanted("y"):
            raise InputError(f"{one.title} is 0 somewhere, which has no place on a log axis", field="--log")
