"""What would make a model fit, cheapest first: only what truly does, for the devices on which it does not yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from archcalc.analyze.fit.changes import Axis, axes
from archcalc.analyze.fit.facts import facts
from archcalc.analyze.fit.layer_split import SplitMemory
from archcalc.analyze.fit.more_devices import DEAR, on_more
from archcalc.analyze.fit.search import Remedy, alone, combined
from archcalc.analyze.fit.solve import UNBOUNDED

if TYPE_CHECKING:
    from archcalc.analyze.fit.placing import Placed
    from archcalc.analyze.fit.question import Question

Found = tuple[tuple[Remedy, ...], list[Remedy | None]]


def remedies(placed: Sequence[Placed]) -> Found:
    """Those to list, and the cheapest for each device; None where it fits already, or where nothing helps."""
    short = [one for one in placed if _needed(one) > _safe(one)]
    if not short or any(map(_lacks_host, placed)):  # nothing here is known to take less of the host's memory
        return (), [None] * len(placed)
    if len(placed) == 1:
        found = tuple(_in_all(placed[0].question, one) for one in _of_one(placed[0]))
        return found, [found[0] if found else None]
    listed = _of_several(short)
    return tuple(listed), [_cheapest(one, listed) if one in short else None for one in placed]


def _in_all(question: Question, remedy: Remedy) -> Remedy:
    """Of split layers, what all devices hold together."""
    changed = question.changed(remedy.change)
    if not isinstance(changed.memory, SplitMemory):
        return remedy
    return replace(remedy, required=sum(one.required for one in changed.memory.shares(changed.sizes)))


def _of_one(placed: Placed) -> Iterator[Remedy]:
    """Single changes, a combination where those are dear, and at last more devices."""
    question, safe = placed.question, _safe(placed)
    known = facts(question, [one for _, one in placed.group.each])
    listed = axes(question, known)
    found = sorted(alone(question, listed, safe), key=lambda one: one.change.cost)
    least = found[0].change.cost if found else UNBOUNDED
    together = combined(question, listed, safe, least) if least >= DEAR else None
    if together:
        yield together
    yield from found
    if known.shares_layers and placed.group.count == 1:
        yield from on_more(question, listed if least >= DEAR else [], safe)


def _of_several(short: Sequence[Placed]) -> list[Remedy]:
    """Changes of the question that all devices share, each with the smallest device that it is enough for."""
    questions = {id(one.question): one.question for one in short}
    if len(questions) > 1:
        return []
    (question,) = questions.values()
    known = facts(question, [device for one in short for _, device in one.group.each])
    rooms = sorted({_safe(one) for one in short}, reverse=True)
    found = [one for axis in axes(question, known) for one in _enough_for_some(question, axis, rooms)]
    return sorted(found, key=lambda one: one.change.cost)


def _enough_for_some(question: Question, axis: Axis, rooms: list[int]) -> Iterator[Remedy]:
    """Those of one axis that make it fit on smaller devices than the changes before them."""
    least = rooms[0] + 1
    for change in axis:
        needed = question.needed_with(change, rooms[0])
        enough = [room for room in rooms if needed is not None and needed <= room]
        if needed is not None and enough and min(enough) < least:
            least = min(enough)
            yield Remedy(change, needed, question.report.plan.gpus)


def _cheapest(placed: Placed, listed: Sequence[Remedy]) -> Remedy | None:
    """Of the list, else more devices."""
    safe = _safe(placed)
    first = next((one for one in listed if one.required <= safe), None)
    if first or not facts(placed.question, [placed.group.first]).shares_layers:
        return first
    return next(on_more(placed.question, [], safe), None)


def _lacks_host(placed: Placed) -> bool:
    there = placed.question.options.host
    return there is not None and placed.question.report.host_bytes > there


def _needed(placed: Placed) -> int:
    return placed.question.required


def _safe(placed: Placed) -> int:
    return placed.question.room(placed.group.first).safe
