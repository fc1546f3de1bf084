"""The page of `archcalc report`: the answer in large figures, then every part of it as a picture with its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from typing import NamedTuple

from archcalc.analyze.fit.matrix_report import MatrixReport
from archcalc.analyze.fit.report import FitReport
from archcalc.analyze.fit.sentence import HEADS
from archcalc.analyze.fit.verdict import Verdict
from archcalc.analyze.overview import Overview
from archcalc.core.assumptions import Assumption, Topic, summed_up, without
from archcalc.core.visible import visible
from archcalc.render.diagram import svg as diagrams
from archcalc.render.html import tables
from archcalc.render.html.charts import chart
from archcalc.render.html.diagram import SCRIPT, figure
from archcalc.render.html.document import Body, document
from archcalc.render.inks import Ink
from archcalc.render.page import page
from archcalc.report.base import Report
from archcalc.spec.units import binary_bytes, flops, rounded

COLUMNS = (3, 4, 2)  # of large figures: the first of them that leaves no gap
LINES = 60  # of a table; the command that prints all of them is named
HOW = (
    "The height of a cell is its share of the parameters. "
    "A click or Enter opens a part, Escape closes it, arrow keys move from part to part."
)
EVERYWHERE = "In several parts of the report"


def render(report: Overview) -> str:
    made = _Page(report)
    sections = list(made.sections())
    links = "".join(f'<li><a href="#{name}">{escape(title)}</a></li>' for name, title in made.titles.items())
    main = "\n".join([*made.head(), f'<nav aria-label="Contents"><ul>{links}</ul></nav>', *sections])
    style = diagrams.style() if report.diagram else ""
    foot = report.command and f"<p>Made by</p>\n<pre><code>{escape(visible(report.command))}</code></pre>"
    body = Body(visible(report.model), f"<main>\n{main}\n</main>", made.inks, style, list(made.scripts), foot)
    return document(body)


@dataclass
class _Page:
    report: Overview
    inks: set[Ink] = field(default_factory=set)
    scripts: dict[str, None] = field(default_factory=dict)  # in the order of the page
    titles: dict[str, str] = field(default_factory=dict)  # of sections, by their names

    def sections(self) -> Iterator[str]:
        report = self.report
        if report.diagram:
            walk = _muted("archcalc walk goes through it step by step.")
            self.scripts[SCRIPT] = None
            yield self._section("architecture", "Architecture", figure(report.diagram), walk)
        yield self._parameters()
        if report.shapes:
            table = tables.table(page(report.shapes).tables[0], LINES, "`archcalc shapes` lists them all")
            yield self._section("shapes", "Shapes", _muted(report.shapes.answer()), table)
        for work in [run.flops for run in reversed(report.runs) if run.flops][:1]:  # a training step has both passes
            figures = tables.figures(page(work).figures)
            yield self._section("flops", "FLOPs", _muted(work.title()), self._chart(work), figures)
        yield self._section("memory", "Memory", *self._memory())
        if any(run.fit for run in report.runs):
            yield self._section("devices", "Devices", *self._devices())
        if report.matrix:
            yield self._section("matrix", "Formats and devices", *self._matrix(report.matrix))
        if report.missing:
            told = (f"<li>{escape(name)}: {tables.sentence(visible(why))}</li>" for name, why in report.missing.items())
            yield self._section("missing", "Not in this report", f'<ul class="notes">{"".join(told)}</ul>')
        yield self._section("assumptions", "Assumptions", assumed(report))

    def head(self) -> Iterator[str]:
        report, scope = self.report, self.report.params.scope
        yield f'<header>\n<p class="kind">Architecture report · {escape(report.kind)}</p>'
        yield f"<h1>{escape(visible(report.model))}</h1>"
        said = report.summary()
        yield said and f'<p class="answer">{tables.sentence(visible(said))}</p>'
        yield scope.headline() and f'<p class="warning">{escape(visible(scope.headline()))}</p>'
        yield "</header>"
        yield cards(report)

    def _parameters(self) -> str:
        params, drawn = self.report.params, self._chart(self.report.params, caption=HOW)
        layers = tables.table(page(params).tables[0], LINES, "`archcalc params` lists them all")
        return self._section(
            "parameters",
            "Parameters",
            drawn,
            tables.figures(page(params).figures),
            _details("Layer by layer", layers),
        )

    def _memory(self) -> Iterator[str]:
        for run in self.report.runs:
            shown = page(run.memory)
            yield f"<h3>{escape(run.name.capitalize())}</h3>\n{_muted(run.memory.title())}"
            yield from (f"<p>{escape(line)}</p>" for line in shown.answer)
            drawn, parts = self._chart(run.memory, f"memory-{run.mode}"), tables.table(shown.tables[0])
            yield drawn + _details("By part, at the peak", parts) if drawn else parts

    def _devices(self) -> Iterator[str]:
        for run, fit in [(run, run.fit) for run in self.report.runs if run.fit]:
            shown = page(fit)
            yield f"<h3>{escape(run.name.capitalize())}</h3>"
            yield from (f"<p>{tables.sentence(line)}</p>" for line in shown.answer)
            yield self._chart(fit, f"devices-{run.mode}")
            yield _details("In numbers", "\n".join(map(tables.table, shown.tables)))

    def _matrix(self, matrix: MatrixReport) -> Iterator[str]:
        yield f"<p>{escape(visible(matrix.answer()))}</p>"
        yield _muted(
            "The slider compares each cell with the longest context that fits there, which is exact. "
            "A click or Enter on a cell shows its answer and its command."
        )
        yield self._chart(matrix)
        yield _details("In numbers", "\n".join(map(tables.table, page(matrix).tables)))

    def _section(self, name: str, title: str, *parts: str) -> str:
        self.titles[name] = title
        head = f'<section aria-labelledby="{name}">\n<h2 id="{name}">{escape(title)}</h2>'
        return "\n".join(part for part in (head, *parts, "</section>") if part)

    def _chart(self, report: Report, name: str = "", caption: str = "") -> str:
        """Nothing where a picture would show nothing."""
        found = chart(report, name, caption)
        if not found:
            return ""
        self.inks |= found.inks
        self.scripts |= dict.fromkeys(found.scripts)
        return found.html


def _muted(text: str) -> str:
    return f'<p class="muted">{escape(visible(text))}</p>'


def _details(title: str, inside: str) -> str:
    return f"<details>\n<summary>{escape(title)}</summary>\n{inside}\n</details>"


def assumed(report: Overview) -> str:
    reports: list[tuple[str, Report | None]] = [("Parameters", report.params), ("Shapes", report.shapes)]
    if report.matrix:
        reports.append(("Formats and devices", report.matrix))
    for run in report.runs:
        mode = run.name.capitalize()
        reports += [(mode, run.memory), (f"{mode}, devices", run.fit), (f"{mode}, FLOPs", run.flops)]
    about: dict[Assumption, list[str]] = {}
    for name, one in reports:
        for each in summed_up(without(one.assumptions, Topic.TABLE)) if one else ():  # on columns that are not here
            about.setdefault(each, []).append(name)
    groups: dict[str, list[Assumption]] = {EVERYWHERE: []}
    for each, names in about.items():
        groups.setdefault(names[0] if len(set(names)) == 1 else EVERYWHERE, []).append(each)
    return "\n".join(f"<h3>{escape(name)}</h3>\n{tables.notes(found)}" for name, found in groups.items() if found)


class Card(NamedTuple):
    """An answer in large figures."""

    name: str
    value: str
    beneath: tuple[str, ...]
    tone: str = ""


def cards(report: Overview) -> str:
    """Parameters, memory in each mode, computation, and where it fits."""
    params = report.params
    active = (f"{params.active:,} active per token",) if params.active != params.total else ()
    found = [Card("Parameters", rounded(int(params.total)), (f"{params.total:,}", *active))]
    for run in report.runs:
        band, needed = run.memory.band, run.memory.required_bytes
        exact = f"± {band.percent} %" if band else f"{needed:,} bytes"
        found.append(Card(f"Memory, {run.name}", binary_bytes(needed), (exact, " · ".join(run.memory.at()))))
    computed = [(run.name, run.flops) for run in report.runs if run.flops]
    for name, work in computed[-1:]:  # of the last mode: a training step where there is one
        each = f"{flops(round(work.per_token))} per {'token' if work.lengths else 'sample'}"
        found.append(Card(f"FLOPs, {name}", flops(work.total), (each,)))
    found += (_devices(run.name, run.fit) for run in report.runs if run.fit)
    columns = next((number for number in COLUMNS if len(found) % number == 0), COLUMNS[0])
    shown = ""
    for card in found:
        big = f'<b class="{card.tone}">{escape(card.value)}</b>' if card.tone else escape(card.value)
        beneath = "".join(f"<dd>{escape(visible(line))}</dd>" for line in card.beneath)
        shown += f'<div><dt>{escape(card.name)}</dt><dd class="big">{big}</dd>{beneath}</div>\n'
    return f'<dl class="cards of-{columns}">\n{shown}</dl>'


def _devices(name: str, fit: FitReport) -> Card:
    """The verdict, or on how many of several it fits."""
    if len(fit.rows) == 1:
        (row,) = fit.rows
        value = f"{row.verdict.mark} {row.verdict.value}"
        needed = f"needs {binary_bytes(row.required_bytes)} of {binary_bytes(row.capacity_bytes)}"
        return Card(f"Verdict, {name}", value, (row.gpu, needed), row.verdict.tone)
    surely = sum(row.verdict is Verdict.FITS for row in fit.rows)
    unsure = {one: sum(row.verdict is one for row in fit.rows) for one in (Verdict.TIGHT, Verdict.CANNOT_SAY)}
    also = tuple(f"{HEADS[one]} {number}" for one, number in unsure.items() if number)
    return Card(f"Fits, {name}", f"{surely} of {len(fit.rows)}", ("devices", *also))
