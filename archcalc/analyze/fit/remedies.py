"""What would make a model fit on devices where it does not: for one device, or changes that help several of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from archcalc.analyze.fit.changes import Axis, axes
from archcalc.analyze.fit.estimate import Estimate
from archcalc.analyze.fit.facts import facts
from archcalc.analyze.fit.layer_split import shares
from archcalc.analyze.fit.more_devices import DEAR, on_more
from archcalc.analyze.fit.need import fits, host_bytes, room
from archcalc.analyze.fit.request import Placed, Request, changed, tried
from archcalc.analyze.fit.search import Remedy, alone, combined, remedy
from archcalc.analyze.fit.solve import UNBOUNDED
from archcalc.run.device import Device

Found = tuple[tuple[Remedy, ...], list[Remedy | None]]


def remedies(placed: Sequence[Placed]) -> Found:
    """Those to list, and the cheapest for each device; None where it fits already, or where nothing helps."""
    short = [one for one in placed if not fits(one.request, one.group.first)]
    asked = (one.request for one in placed if one.request.options.host is not None)
    # Nothing here is known to take less of the host's memory.
    if not short or any(host_bytes(request) > (request.options.host or 0) for request in asked):
        return (), [None] * len(placed)
    if len(placed) == 1:
        found = tuple(_in_all(placed[0].request, one) for one in _of_one(placed[0]))
        return found, [found[0] if found else None]
    listed = _of_several(short)
    return tuple(listed), [_cheapest(one, listed) if one in short else None for one in placed]


def _in_all(request: Request, found: Remedy) -> Remedy:
    """Of split layers, what all devices hold together."""
    with_it = changed(request, found.change)
    if not with_it.split:
        return found
    held = shares(with_it.deployment, with_it.split, with_it.sizes)
    return replace(found, required=sum(share.required for share in held))


def _of_one(placed: Placed) -> Iterator[Remedy]:
    """What keeps the request: single changes, a combination where those are dear, more devices; then what cuts it."""
    request, device = placed.request, placed.group.first
    known = facts(request, placed.group.kinds)
    listed = axes(request, known)
    keeping = [axis for axis in listed if not axis[0].cuts]
    kept = alone(request, keeping, device)
    least = kept[0].change.cost if kept else UNBOUNDED
    estimate = Estimate(request, device) if least >= DEAR else None
    together = combined(estimate, keeping, least) if estimate else None
    if together:
        kept = [together, *kept]
    yield from kept
    if known.shares_layers and placed.group.count == 1:
        yield from on_more(request, keeping if estimate else [], device, placed.group.name)
    less = alone(request, [axis for axis in listed if axis[0].cuts], device)
    if estimate and not less and all(one.host for one in kept):  # else there is a way on the device itself
        together = combined(estimate, listed, UNBOUNDED, cuts=True)
        less = [together] if together else []
    yield from less


def _of_several(short: Sequence[Placed]) -> list[Remedy]:
    """Changes of the request that all devices share, each with the smallest device that it is enough for."""
    request = short[0].request
    if any(one.request != request for one in short):
        return []
    known = facts(request, [device for one in short for device in one.group.kinds])
    devices = sorted((one.group.first for one in short), key=lambda device: -device.capacity)
    found = [one for axis in axes(request, known) for one in _enough_for_some(request, axis, devices)]
    return sorted(found, key=lambda one: one.change.price_order)


def _enough_for_some(request: Request, axis: Axis, devices: list[Device]) -> Iterator[Remedy]:
    """Those of one axis that make it fit on smaller devices than the changes before them."""
    least = devices[0].capacity + 1
    for change in axis:
        with_it = tried(request, change)
        enough = [device.capacity for device in devices if with_it and fits(with_it, device)]
        if with_it and enough and min(enough) < least:
            least = min(enough)
            yield remedy(with_it, change)


def _cheapest(placed: Placed, listed: Sequence[Remedy]) -> Remedy | None:
    """Of the list, or more devices before what does less than was asked for."""
    request, device = placed.request, placed.group.first
    first = next((one for one in listed if one.is_enough_for(room(request, device))), None)
    if (first and not first.change.cuts) or not facts(request, [device]).shares_layers:
        return first
    return next(on_more(request, [], device, placed.group.name), first)
