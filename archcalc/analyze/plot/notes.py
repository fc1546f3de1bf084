"""What a chart takes for granted: what its points assume, how its axes run, what is missing and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from archcalc.analyze.plot.curves import Family
from archcalc.analyze.plot.report import PlotReport
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError
from archcalc.report.base import Report
from archcalc.run.accuracy import inference_band
from archcalc.run.device import remarks

LENGTHS = (Topic.SEQ, Topic.SRC_SEQ, Topic.TGT_SEQ, Topic.CONTEXT)
LEFT_OUT = (Topic.TABLE,)  # how to read the tables of another report
SOLVED = Assumption(
    Topic.TABLE, "crossings are solved on whole numbers: at the last one and at the next, both sides were computed"
)
BETWEEN = Assumption(
    Topic.TABLE, "a crossing of which the next number is not the last plus 1: sizes between are refused, or have a gap"
)


def notes(report: PlotReport, refused: Sequence[tuple[str, InputError]], gpus: Sequence[str]) -> PlotReport:
    """With its assumptions, and the words of its picture."""
    own = (*_read(report), *_gaps(report, refused), *_crossed(report), *_devices(report, gpus))
    chart = replace(report.chart, title=report.title(), told=_told(report))
    return replace(report, assumptions=(*own, *_of_points(report)), chart=chart)


def _told(report: PlotReport) -> str:
    """For those who cannot see the chart."""
    ranges = [report._range(replace(panel, lines=(line,))) for panel in report.chart.panels for line in panel.lines]
    return ". ".join([*ranges, *(one.told for one in report.met)]) + "."


def _read(report: PlotReport) -> Iterator[Assumption]:
    kinds = {True: "log", False: "linear"}
    x = [f"{report.x.name} {kinds[report.chart.log]}"] if report.x.numeric else []
    axes = [*x, *(f"{panel.title} {kinds[panel.log]}" for panel in report.chart.panels)]
    yield Assumption(Topic.TABLE, f"axes: {', '.join(axes)}; --log and --linear change it")
    labels = {line.label for panel in report.chart.panels for line in panel.lines}
    drawn = sum(len(report.families) for _ in report.measures)
    if report.by and len(labels) < drawn and len(report.families) > 1:
        same = [one.title for one in report.measures if _is_same(report, one.name)]
        if same:
            text = f"{' and '.join(same)}: the same for every value of {report.by.name}, so one curve"
            yield Assumption(Topic.TABLE, text)


def _is_same(report: PlotReport, measure: str) -> bool:
    one = next(each for each in report.measures if each.name == measure)
    heights = {tuple(family.value(one, place) for place in report.x.values) for family in report.families}
    return len(heights) < len(report.families)


def _gaps(report: PlotReport, refused: Sequence[tuple[str, InputError]]) -> Iterator[Assumption]:
    """Each reason once, with the places that it leaves out."""
    for label, error in refused:
        yield Assumption(Topic.SCOPE, f"not drawn: {label}: {_reason(error)}")
    reasons: dict[str, list[str]] = {}
    for family in report.families:
        for place, error in family.errors.items():
            reasons.setdefault(_reason(error), []).append(report.x.told(place))
    for reason, places in reasons.items():
        yield Assumption(Topic.SCOPE, f"gaps at {_listed(list(dict.fromkeys(places)))}: {reason}")


def _reason(error: InputError) -> str:
    return ": ".join(part for part in (error.field, error.fact) if part)


def _listed(places: list[str]) -> str:
    return ", ".join(places) if len(places) <= 4 else f"{places[0]}, {places[1]} … {places[-1]}"


def _crossed(report: PlotReport) -> Iterator[Assumption]:
    found = [one.crossing for one in report.met if one.crossing]
    if any(one.solved for one in found):
        yield SOLVED
    if not all(one.solved for one in found):
        yield BETWEEN


def _devices(report: PlotReport, gpus: Sequence[str]) -> Iterator[Assumption]:
    if not gpus:
        return
    trains = report.families[0].subject.mode("memory") == "train"
    band = "" if trains else f" (± {inference_band().percent} %)"
    text = f"fits: needs no more than the device has; `archcalc fit` keeps the error band{band} to spare"
    yield Assumption(Topic.DEVICE, text)
    yield from (Assumption(Topic.DEVICE, each) for name in dict.fromkeys(gpus) for each in remarks(name))


def _of_points(report: PlotReport) -> Iterator[Assumption]:
    """What the first and the last point of every curve assume, and what lengths the last ones have."""
    found: dict[Assumption, None] = {}
    commands = list(dict.fromkeys(one.command for one in report.measures))
    for family in report.families:
        first, last = (_reports(family, place, commands) for place in (family.drawn[0], family.drawn[-1]))
        both = {one for each in first for one in each.assumptions}
        kept = (one for each in last for one in each.assumptions if one in both or one.topic in LENGTHS)
        found.update(dict.fromkeys(one for one in kept if one.topic not in LEFT_OUT))
    yield from found


def _reports(family: Family, place: int | str, commands: Sequence[str]) -> list[Report]:
    return family.x.changed(family.subject, place).reports(commands)


