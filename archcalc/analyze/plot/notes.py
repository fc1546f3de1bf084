"""What a chart takes for granted: what its points assume, how its axes run, what is missing and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from archcalc.analyze.plot.report import PlotReport
from archcalc.core.assumptions import Assumption, Topic, all_on
from archcalc.core.errors import InputError
from archcalc.run.device import remarks

LENGTHS = (Topic.SEQ, Topic.SRC_SEQ, Topic.TGT_SEQ, Topic.CONTEXT)
MANY = 4  # places that are listed one by one
LEFT_OUT = (Topic.TABLE,)  # how to read the tables of another report
SOLVED = Assumption(
    Topic.TABLE, "crossings are solved on whole numbers: at the last one and at the next, both sides were computed"
)
FITS = "fits: needs no more than the device has; `archcalc fit` keeps the error band to spare"
BETWEEN = Assumption(
    Topic.TABLE,
    "at least, at most: a crossing between two points, where sizes are refused or (training) not searched",
)


def notes(report: PlotReport, refused: Sequence[tuple[str, InputError]], gpus: Sequence[str]) -> PlotReport:
    """With its assumptions, and the words of its picture."""
    own = [*_read(report), *_gaps(report, refused)]
    crossed = [one.crossing.solved for one in report.met if one.crossing]
    if any(crossed):
        own.append(SOLVED)
    if not all(crossed):
        own.append(BETWEEN)
    if gpus:
        own += all_on(Topic.DEVICE, (FITS, *(each for name in dict.fromkeys(gpus) for each in remarks(name))))
    ranges = [report._range(replace(panel, lines=(line,))) for panel in report.curves.panels for line in panel.lines]
    told = ". ".join([*ranges, *(one.told for one in report.met)]) + "."  # for those who cannot see the chart
    chart = replace(report.curves, title=report.title(), told=told)
    return replace(report, assumptions=(*own, *_of_points(report)), curves=chart)


def _read(report: PlotReport) -> Iterator[Assumption]:
    kinds = {True: "log", False: "linear"}
    axes = [f"{panel.title} {kinds[panel.log]}" for panel in report.curves.panels]
    if report.x.numeric:
        axes.insert(0, f"{report.x.name} {kinds[report.curves.log]}")
    yield Assumption(Topic.TABLE, f"axes: {', '.join(axes)}; --log and --linear change it")
    same = []  # of what every model has one curve of several
    models = {one.subject.label for one in report.families}
    for measure in report.measures if report.by else ():
        heights = {
            (one.subject.label, *(one.value(measure, place) for place in report.x.values)) for one in report.families
        }
        if len(heights) == len(models) < len(report.families):
            same.append(measure.title)
    if report.by and same:
        text = f"{' and '.join(same)}: the same for every value of {report.by.name}, so one curve"
        yield Assumption(Topic.TABLE, text)


def _gaps(report: PlotReport, refused: Sequence[tuple[str, InputError]]) -> Iterator[Assumption]:
    """With the reason; where one option or field is refused at several places, that of the first."""
    for label, error in refused:
        yield Assumption(Topic.SCOPE, f"not drawn: {label}: {_reason(error)}")
    gaps: dict[tuple[tuple[str, ...], str], dict[int | str, InputError]] = {}
    for family in report.families:
        for place, error in family.errors.items():
            gaps.setdefault((tuple(family.subject.words), error.field), {}).setdefault(place, error)
    for (model, _), errors in gaps.items():
        first = next(iter(errors.values()))
        named = [f"{place:,}" if isinstance(place, int) else place for place in errors]
        if len(named) > MANY:
            named = [named[0], f"{named[1]} … {named[-1]}"]
        words = ", ".join((*model, f"{report.x.name} {', '.join(named)}"))
        yield Assumption(Topic.SCOPE, f"gaps: {words}: {_reason(first)}")


def _reason(error: InputError) -> str:
    return ": ".join(part for part in (error.field, error.fact) if part)


def _of_points(report: PlotReport) -> Iterator[Assumption]:
    """What the points of all curves assume, and of some curves alone with their names."""
    commands = list(dict.fromkeys(one.command for one in report.measures))
    found: list[dict[Assumption, None]] = []
    for family in report.families:  # by the first point and by the last, and what lengths the last has
        ends = (family.x.changed(family.subject, place) for place in (family.drawn[0], family.drawn[-1]))
        first, last = (subject.reports(commands) for subject in ends)
        both = {one for each in first for one in each.assumptions}
        kept = (one for each in last for one in each.assumptions if one in both or one.topic in LENGTHS)
        found.append(dict.fromkeys(one for one in kept if one.topic not in LEFT_OUT))
    for one in dict.fromkeys(one for assumed in found for one in assumed):
        own = [family for family, assumed in zip(report.families, found, strict=True) if one in assumed]
        labels = (" · ".join(filter(None, [*each.subject.words, each.told])) for each in own)
        is_of_all = len(own) == len(report.families)
        yield one if is_of_all else one._replace(text=f"{', '.join(labels)}: {one.text}")
