"""Combinations of changes that make a model fit if no single one does: cheap ones first, and only those needed.

Two ways are looked for: on more devices, changing nothing about the results, and on as many as there are, at any price.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from archcalc.analyze.fit.question import TOO_MUCH
from archcalc.analyze.fit.remedies import Change, changes, needed_with, spread

if TYPE_CHECKING:
    from archcalc.analyze.fit.question import Question


@dataclass(frozen=True)
class Together:
    """A combination of changes, the number of devices, and the memory needed on each."""

    change: Change
    gpus: int
    required: int


def together(question: Question, capacity: int) -> tuple[Together, ...]:
    """The ways that there are."""
    return tuple(way for way in (_on_more(question, capacity), _as_it_is(question, capacity)) if way)


def _on_more(question: Question, capacity: int) -> Together | None:
    """Over as few devices as exact changes allow."""
    chosen = _chosen(question, [change for change in changes(question) if change.exact], lambda needed: False)
    plan = question.changed(joined(chosen)).more(capacity)
    if plan is None:
        return None

    def needed(fewer: list[Change]) -> int:
        return question.changed(joined(fewer)).on(plan.tp, plan.dp, plan.cp, capacity)

    chosen = _without_idle(chosen, lambda fewer: needed(fewer) <= capacity)
    return Together(joined([*chosen, spread(question, plan)]), plan.gpus, needed(chosen))


def _as_it_is(question: Question, capacity: int) -> Together | None:
    """On the devices that there are."""

    def needed(fewer: list[Change]) -> int:
        return needed_with(question, joined(fewer)) or TOO_MUCH

    chosen = _chosen(question, changes(question), lambda needed: needed <= capacity)
    if needed(chosen) > capacity:
        return None
    chosen = _without_idle(chosen, lambda fewer: needed(fewer) <= capacity)
    return Together(joined(chosen), question.report.plan.gpus, needed(chosen))


def _chosen(question: Question, listed: list[Change], is_enough: Callable[[int], bool]) -> list[Change]:
    """Every change on top of those before it, until it is enough, but for those that make it worse.

    One that saves nothing yet may do so with the next: what is recomputed matters once the states are small."""
    chosen: list[Change] = []
    least = question.report.required_bytes
    for change in listed:
        wider = [*_beside(chosen, change), change]
        needed = needed_with(question, joined(wider))
        if needed and needed <= least:
            chosen, least = wider, needed
        if is_enough(least):
            break
    return chosen


def _without_idle(chosen: list[Change], is_enough: Callable[[list[Change]], bool]) -> list[Change]:
    """Drop changes that are not needed, the most expensive first."""
    for change in reversed(chosen):
        fewer = [other for other in chosen if other is not change]
        if is_enough(fewer):
            chosen = fewer
    return chosen


def joined(chosen: list[Change]) -> Change:
    """All of them as one; the last of two that say the same thing holds."""
    kept = list(_said_once(chosen))
    options = {name: value for change in kept for name, value in change.options.items()}
    batch = next((change.batch for change in kept if change.batch), None)
    return Change("together", " ".join(change.option for change in kept), "all of these", options, batch)


def _said_once(chosen: list[Change]) -> Iterator[Change]:
    for index, change in enumerate(chosen):
        if all(change in _beside([change], later) for later in chosen[index + 1 :]):
            yield change


def _beside(chosen: list[Change], change: Change) -> list[Change]:
    """Those whose options it does not set anew."""
    return [other for other in chosen if other.batch or not other.options.keys() <= change.options.keys()]
