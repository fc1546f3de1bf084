"""What the numbers of a report take for granted: each once, under what it is about."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from archcalc.analyze.overview import Overview
from archcalc.core.assumptions import Assumption, Topic, summed_up, without
from archcalc.core.visible import visible
from archcalc.render.html import tables
from archcalc.report.base import Report

EVERYWHERE = "In several parts of the report"


def assumed(report: Overview) -> str:
    about: dict[Assumption, list[str]] = {}
    for name, one in _reports(report):
        for each in summed_up(without(one.assumptions, Topic.TABLE)):  # on columns that are not here
            about.setdefault(each, []).append(name)
    groups: dict[str, list[Assumption]] = {EVERYWHERE: []}
    for each, names in about.items():
        groups.setdefault(names[0] if len(set(names)) == 1 else EVERYWHERE, []).append(each)
    return "\n".join(_group(name, found) for name, found in groups.items() if found)


def _reports(report: Overview) -> Iterator[tuple[str, Report]]:
    yield "Parameters", report.params
    if report.shapes:
        yield "Shapes", report.shapes
    for run in report.runs:
        name = run.name.capitalize()
        yield name, run.memory
        if run.fit:
            yield f"{name}, devices", run.fit
        if run.flops:
            yield f"{name}, FLOPs", run.flops


def _group(name: str, found: list[Assumption]) -> str:
    listed = "\n".join(f"<li>{tables.sentence(visible(str(each)))}</li>" for each in found)
    return f'<h3>{escape(name)}</h3>\n<ul class="notes">\n{listed}\n</ul>'
