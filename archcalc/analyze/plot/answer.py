"""Curves of memory, FLOPs and parameters over a field of the spec or an option.

    plot(load("llama-3-8b"), x="seq=1k..128k", y="memory,cache", by="weights", gpus=["rtx-4090"])

Every point is what `archcalc params`, `flops` or `memory` answers with the same options, to the last digit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Unpack

from archcalc.analyze.plot.axes import Axis, Scales, Written, axis, is_log
from archcalc.analyze.plot.curves import Family, families
from archcalc.analyze.plot.drawn import Drawn, are_straight
from archcalc.analyze.plot.panels import grouped, panels
from archcalc.analyze.plot.report import PlotReport
from archcalc.analyze.plot.subject import MEMORY, USUAL, Measure, Subject, measures
from archcalc.core.assumptions import Assumption, Topic, all_on
from archcalc.core.errors import InputError, did_you_mean
from archcalc.core.words import enumeration
from archcalc.network import Network
from archcalc.report.picture import Curves, Limit
from archcalc.run.choice import MODE_WORDS
from archcalc.run.device import device, remarks
from archcalc.run.keywords import Names, PlotKeywords
from archcalc.run.options import options_of
from archcalc.spec.option import flag_of
from archcalc.spec.option_checks import a_model, checked

AUTOMATIC = Scales()
NONE: Mapping[str, Any] = MappingProxyType({})
LENGTHS = (Topic.SEQ, Topic.SRC_SEQ, Topic.TGT_SEQ, Topic.CONTEXT, Topic.EXACTNESS)  # too long for the model
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


class ChartKeywords(PlotKeywords, total=False):
    """`--y`, `--by`, `--gpu`, `--log` and `--linear`."""

    y: Names
    by: str | Mapping[str, Any] | None
    gpus: Names
    log: Names
    linear: Names


@checked
def plot(
    models: Network | Sequence[Network],
    x: Written,
    *,
    y: str | Sequence[str] | None = None,
    by: Written | None = None,
    gpus: Sequence[str] | str | None = None,
    log: str | Sequence[str] | None = None,
    linear: str | Sequence[str] | None = None,
    **options: Unpack[PlotKeywords],
) -> PlotReport:
    """Curves of one model or several; options are those of `archcalc memory` and `flops`."""
    listed = [a_model(one, "models") for one in (models if isinstance(models, list | tuple) else [models])]
    named = [(one.name, one) for one in listed]
    return plotted(named, x, USUAL if y is None else y, by, gpus or (), Scales.of(log, linear), options)


def plotted(
    models: Sequence[tuple[str, Network]],
    x: Written,
    y: str | Sequence[str] = USUAL,
    by: Written | None = None,
    gpus: Iterable[str] = (),
    scales: Scales = AUTOMATIC,
    options: Mapping[str, Any] = NONE,
) -> PlotReport:
    """Models by their labels; options as `archcalc memory` and `flops` take them."""
    asked, named, given = measures(y), list(gpus), {name: value for name, value in options.items() if value is not None}
    _check_labels(models)
    subjects = [Subject(label, model, given, named=len(models) > 1) for label, model in models]
    over = axis(x, "--x", subjects)
    apart = axis(by, "--by", subjects) if by is not None else None
    _check_given(given, over, apart)
    _check_effects(asked, given, over, apart)
    limits = _limits(named, asked, subjects[0])
    drawn, refused = families(subjects, over, apart, asked)
    _check_heights(drawn, asked, scales)
    listed = grouped(drawn)
    log_x = is_log(over, scales) and not (scales.wanted("x") is None and all(are_straight(each) for _, each in listed))
    made, met = panels(listed, limits, scales, log_x=log_x)
    report = PlotReport(
        model=models[0][1].name if len(models) == 1 else " · ".join(label for label, _ in models),
        assumptions=(),
        scope=models[0][1].scope,
        about=_described(asked, over, apart, subjects[0]),
        x=over,
        by=apart,
        measures=asked,
        families=tuple(drawn),
        curves=Curves("", "", over.name, over.values, made, over.numeric, log_x, over.of_bytes, _beyond(listed)),
        met=met,
    )
    return notes(report, refused, named)


def _beyond(listed: Sequence[tuple[str, Sequence[Drawn]]]) -> tuple[str, ...]:
    """What dotted pieces of lines are."""
    lines = [line for _, lines in listed for line in lines if line.until]
    told = dict.fromkeys(" ".join([*line.families[0].subject.words, f"{line.until:,}"]) for line in lines)
    return (f"dotted: longer than the context of the model, {enumeration(told)}",) if told else ()


def _check_labels(models: Sequence[tuple[str, Network]]) -> None:
    """A curve is known by the label of its model."""
    labels = [label for label, _ in models]
    twice = [label for label in labels if labels.count(label) > 1]
    if twice:
        raise InputError("is named twice", "name it once, or change one of them: MODEL:field=value", field=twice[0])
    if not labels:
        raise InputError("there is no model to draw", "name one", field="models")


def _limits(gpus: Sequence[str], asked: Sequence[Measure], subject: Subject) -> list[Limit]:
    if not gpus:
        return []
    if not any(one.name == MEMORY for one in asked):
        raise InputError("a device's memory is drawn beside memory", "add memory to --y", field="--gpu")
    if subject.deployment.run.engine.fills_device:
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


def _check_given(options: Mapping[str, Any], x: Axis, by: Axis | None) -> None:
    """An axis changes its option itself, and two axes change different ones."""
    known = dict(options_of("plot"))
    for name in options:
        if name not in known:
            raise InputError(f"no option called {name}", did_you_mean(name, [*known, "x", "y", "by", "gpus"]))
    for flag, over in (("--x", x), ("--by", by)):
        if over and over.option and options.get(over.option) is not None:
            fact = f"{flag} goes through its values already"
            raise InputError(fact, f"leave {flag_of(over.option)} out", field=flag_of(over.option))
    if by and (by.option, by.name) == (x.option, x.name):
        raise InputError(f"--x goes through {x.name} already", "split the curves by something else", field="--by")


def _check_effects(asked: Sequence[Measure], options: Mapping[str, Any], x: Axis, by: Axis | None) -> None:
    """Refuse options that change nothing of what is drawn, and an axis along which something stays the same."""
    takes = {one.command: {name for name, _ in options_of(one.command)} for one in asked if one.command != "params"}
    for one in asked:
        if x.option and x.option not in takes.get(one.command, ()):
            hint = "leave it out, or vary a field of the spec, such as --x d_model=256..4096"
            raise InputError(f"{one.title} do not depend on {x.name}", hint, field=f"--y {one.name}")
    for name in (*options, *([by.option] if by and by.option else ())):
        if options.get(name, 0) is not None and not any(name in taken for taken in takes.values()):
            drawn = " and ".join(dict.fromkeys(one.name for one in asked))
            raise InputError(f"has no effect on {drawn}", "leave it out, or draw memory or flops", field=flag_of(name))


def _described(asked: Sequence[Measure], x: Axis, by: Axis | None, subject: Subject) -> str:
    """`memory and cache over seq, by weights · inference · batch 4`."""
    what = f"{enumeration(one.title for one in asked)} over {x.name}"
    if by:
        what += f", by {by.name}"
    commands = dict.fromkeys(one.command for one in asked if one.command != "params")
    varied = "mode" in (x.option, by and by.option)
    modes = {command: subject.mode(command) for command in commands if not varied}
    if modes.get("flops") == "infer":
        modes["flops"] = "prefill"
    said = dict.fromkeys(MODE_WORDS.get(mode, mode) for mode in modes.values())
    sizes = (f"{name} {subject.given[name]}" for name in ("batch", "seq", "context") if subject.given.get(name))
    return " · ".join((what, *said, *sizes))


def notes(report: PlotReport, refused: Sequence[tuple[str, InputError]], gpus: Sequence[str]) -> PlotReport:
    """With its assumptions (what its points assume, how its axes run, what is missing and why), and the words of its
    picture."""
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
