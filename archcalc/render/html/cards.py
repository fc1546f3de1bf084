"""The answers in large figures: parameters, memory in each mode, computation, and where it fits."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from archcalc.analyze.fit.report import HEADS, FitReport
from archcalc.analyze.fit.verdict import Verdict
from archcalc.analyze.overview import Overview
from archcalc.core.visible import visible
from archcalc.spec.units import binary_bytes, decimal_bytes, flops, rounded

COLUMNS = (3, 4, 2)  # the first of them that leaves no gap


class Card(NamedTuple):
    name: str
    value: str
    beneath: tuple[str, ...]
    tone: str = ""


def cards(report: Overview) -> str:
    params = report.params
    active = (f"{params.active:,} active per token",) if params.active != params.total else ()
    found = [
        Card("Parameters", rounded(int(params.total)), (f"{params.total:,}", *active)),
        *_memory(report),
        *_work(report),
        *(_devices(run.name, run.fit) for run in report.runs if run.fit),
    ]
    columns = next((number for number in COLUMNS if len(found) % number == 0), COLUMNS[0])
    shown = ""
    for card in found:
        big = f'<b class="{card.tone}">{escape(card.value)}</b>' if card.tone else escape(card.value)
        beneath = "".join(f"<dd>{escape(visible(line))}</dd>" for line in card.beneath)
        shown += f'<div><dt>{escape(card.name)}</dt><dd class="big">{big}</dd>{beneath}</div>\n'
    return f'<dl class="cards of-{columns}">\n{shown}</dl>'


def _memory(report: Overview) -> Iterator[Card]:
    for run in report.runs:
        memory = run.memory
        within = f" ± {memory.band.percent} %" if memory.band else ""
        value = decimal_bytes(memory.required_bytes)
        yield Card(
            f"Memory, {run.name}", value, (f"{binary_bytes(memory.required_bytes)}{within}", " · ".join(memory.at()))
        )


def _work(report: Overview) -> Iterator[Card]:
    """Of the last mode: a training step where there is one."""
    found = [(run, run.flops) for run in report.runs if run.flops]
    for run, work in found[-1:]:
        unit = "token" if work.lengths else "sample"
        yield Card(f"FLOPs, {run.name}", flops(work.total), (f"{flops(round(work.per_token))} per {unit}",))


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
