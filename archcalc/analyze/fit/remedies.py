"""What would make a model fit, cheapest first: only what truly does, for the devices on which it does not yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from archcalc.analyze.fit.changes import Axis, axes
from archcalc.analyze.fit.facts import facts
from archcalc.analyze.fit.layer_split import SplitMemory
from archcalc.analyze.fit.more_devices import DEAR, on_more
from archcalc.analyze.fit.search import Foretold, Remedy, alone, combined, remedy
from archcalc.analyze.fit.solve import UNBOUNDED

if TYPE_CHECKING:
    from archcalc.analyze.fit.placing import Placed
    from archcalc.analyze.fit.question import Question
    from archcalc.run.device import Device

Found = tuple[tuple[Remedy, ...], list[Remedy | None]]


def remedies(placed: Sequence[Placed]) -> Found:
    """Those to list, and the cheapest for each device; None where it fits already, or where nothing helps."""
    short = [one for one in placed if not one.question.fits(one.group.first)]
    if not short or any(map(_lacks_host, placed)):  # nothing here is known to take less of the host's memory
        return (), [None] * len(placed)
    if len(placed) == 1:
        found = tuple(_in_all(placed[0].question, one) for one in _of_one(placed[0]))
        return found, [found[0] if found else None]
    listed = _of_several(short)
    return tuple(listed), [_cheapest(one, listed) if one in short else None for one in placed]


def _in_all(question: Question, found: Remedy) -> Remedy:
    """Of split layers, what all devices hold together."""
    changed = question.changed(found.change)
    if not isinstance(changed.memory, SplitMemory):
        return found
    return replace(found, required=sum(one.required for one in changed.memory.shares(changed.sizes)))


def _of_one(placed: Placed) -> Iterator[Remedy]:
    """What keeps the request: single changes, a combination where those are dear, more devices; then what cuts it."""
    question, device = placed.question, placed.group.first
    known = facts(question, placed.group.kinds)
    listed = axes(question, known)
    keeping, cutting = _keeping(listed)
    found = sorted(alone(question, keeping, device), key=lambda one: one.change.cost)
    least = found[0].change.cost if found else UNBOUNDED
    foretold = Foretold(question, device) if least >= DEAR else None
    together = combined(foretold, keeping, least) if foretold else None
    kept = [*([together] if together else []), *found]
    yield from kept
    if known.shares_layers and placed.group.count == 1:
        yield from on_more(question, keeping if foretold else [], device, placed.group.name)
    less = sorted(alone(question, cutting, device), key=lambda one: one.change.cost)
    if foretold and not less and all(one.host for one in kept):  # else there is a way on the device itself
        together = combined(foretold, listed, UNBOUNDED, cuts=True)
        less = [together] if together else []
    yield from less


def _keeping(listed: Sequence[Axis]) -> tuple[list[Axis], list[Axis]]:
    """Axes apart by whether they keep the request."""
    return [axis for axis in listed if not axis[0].cuts], [axis for axis in listed if axis[0].cuts]


def _of_several(short: Sequence[Placed]) -> list[Remedy]:
    """Changes of the question that all devices share, each with the smallest device that it is enough for."""
    questions = {id(one.question): one.question for one in short}
    if len(questions) > 1:
        return []
    (question,) = questions.values()
    known = facts(question, [device for one in short for device in one.group.kinds])
    devices = sorted((one.group.first for one in short), key=lambda device: -device.capacity)
    found = [one for axis in axes(question, known) for one in _enough_for_some(question, axis, devices)]
    return sorted(found, key=lambda one: one.change.price_order)


def _enough_for_some(question: Question, axis: Axis, devices: list[Device]) -> Iterator[Remedy]:
    """Those of one axis that make it fit on smaller devices than the changes before them."""
    least = devices[0].capacity + 1
    for change in axis:
        changed = question.tried(change)
        enough = [device.capacity for device in devices if changed and changed.fits(device)]
        if changed and enough and min(enough) < least:
            least = min(enough)
            yield remedy(changed, change)


def _cheapest(placed: Placed, listed: Sequence[Remedy]) -> Remedy | None:
    """Of the list, or more devices before what does less than was asked for."""
    question, device = placed.question, placed.group.first
    first = next((one for one in listed if one.is_enough_for(question.room(device))), None)
    if (first and not first.change.cuts) or not facts(question, [device]).shares_layers:
        return first
    return next(on_more(question, [], device, placed.group.name), first)


def _lacks_host(placed: Placed) -> bool:
    there = placed.question.options.host
    return there is not None and placed.question.host_bytes > there
