"""Changes that make a model fit: each alone, then the cheapest combination of several, first of those that do all that
was asked for.

What a combination needs is estimated from what each change does alone (`estimate.py`), so that many can be compared;
those that may be enough are then simulated in the order of their cost, and only what truly fits is answered. Nothing is
kept in a combination that it fits without.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from archcalc.analyze.fit.change import Change, joined
from archcalc.analyze.fit.changes import Axis, in_parts, most_layers, shortened, with_layers
from archcalc.analyze.fit.estimate import Estimate
from archcalc.analyze.fit.need import fits, host_bytes, measured, required, room
from archcalc.analyze.fit.request import Request, changed, tried
from archcalc.analyze.fit.solve import Curve, by_part, curve_of
from archcalc.analyze.fit.verdict import Room
from archcalc.core.divisors import divisors
from archcalc.run.device import Device

TRIED = 10  # combinations that are simulated, of those that may be enough
USEFUL = 4  # a shorter context is of use from a fourth of what was asked for


@dataclass(frozen=True)
class Remedy:
    """A change, the memory needed with it on each device and in host RAM, and how many devices there are then."""

    change: Change
    required: int
    gpus: int = 1
    changes: int = 1  # of how many it is made
    host: int = 0
    percent: int | None = None  # the error band of that

    def is_enough_for(self, room: Room) -> bool:
        """Whether it makes the model fit on devices of this memory."""
        return self.required <= replace(room, percent=self.percent).safe


def remedy(request: Request, change: Change, changes: int = 1) -> Remedy:
    """What the request needs, in which the change is made already."""
    error, gpus = measured(request), request.options.plan.gpus
    percent = error.percent if error else None
    return Remedy(change, required(request), gpus, changes, host_bytes(request), percent)


def alone(request: Request, axes: Sequence[Axis], device: Device) -> list[Remedy]:
    """Of each axis the cheapest change that is enough by itself; the cheapest of all first."""
    found: list[Remedy] = []
    for axis in axes:
        for change in _sized(request, axis, device):
            with_it = tried(request, change)
            if with_it and fits(with_it, device):
                found.append(remedy(with_it, change))
                break
    return sorted(found, key=lambda one: one.change.cost)


def _sized(request: Request, axis: Axis, device: Device) -> Axis:
    """Of an axis of sizes, the largest that may be enough."""
    first, safe = axis[0], room(request, device).safe
    if first.length:  # a little less than the longest where the allocator takes a larger share
        asked = request.varying.asked or 0
        most = min(curve_of(request, "length").largest(safe, asked), asked - 1)
        sizes = [size for size in (most, most * 15 // 16, most * 3 // 4) if size * USEFUL >= asked and size]
        return tuple(shortened(request, size) for size in sizes)
    if first.batch:  # in training, parts that add up to the batch
        most = by_part(request).largest(safe, request.batch)
        fitting: Sequence[int] = range(1, most + 1)
        if request.options.trains:
            fitting = [size for size in divisors(request.batch) if size <= most]
        return tuple(in_parts(request, first, size) for size in reversed(fitting[-USEFUL:]))
    return _deepest(request, first, device) if first.gpu_layers else axis


def _deepest(request: Request, change: Change, device: Device, others: Sequence[Change] = ()) -> Axis:
    """As many layers on the GPU as fit, with further changes made besides."""
    with_it = tried(request, joined([*others, change]))
    if with_it is None:
        return ()

    def needed(layers: int) -> int:
        return required(changed(request, joined([*others, with_layers(request, layers)])))

    most = Curve(needed).largest(room(with_it, device).safe, most_layers(request))
    return (with_layers(request, most),) if most else ()


def combined(estimate: Estimate, axes: Sequence[Axis], most: int, *, cuts: bool = False) -> Remedy | None:
    """The cheapest combination that is enough and costs less than `most`; None if there is none. With `cuts` only those
    that do less than was asked for, in as few respects as possible."""
    request, device = estimate.request, estimate.device
    known = [[one for one in axis if estimate.knows(one)] for axis in axes]
    sets = [[one for one in chosen if one] for chosen in product(*([None, *axis] for axis in known))]
    cheap = [one for one in sets if len(one) > 1 and _cost(one) < most and any(each.cuts for each in one) is cuts]
    enough = [one for one in cheap if estimate.is_enough(one)]
    enough.sort(key=lambda one: (sum(each.cuts for each in one), _cost(one), len(one)))
    deepest = [axis[-1] for axis in known if axis]
    for chosen in (*enough[:TRIED], *([deepest] if _cost(deepest) < most else [])):
        if _is_enough(request, chosen, device):
            return _without_idle(request, chosen, device)
    return None


def _cost(chosen: Sequence[Change]) -> int:
    return sum(one.cost for one in chosen)


def _is_enough(request: Request, chosen: list[Change], device: Device) -> bool:
    together = tried(request, joined(chosen))
    return together is not None and fits(together, device)


def _without_idle(request: Request, chosen: list[Change], device: Device) -> Remedy:
    """Without changes that are not needed, the dearest first; sizes as large as they may be beside the others."""
    for change in sorted(chosen, key=lambda one: one.price_order, reverse=True):
        fewer = [other for other in chosen if other is not change]
        if _is_enough(request, fewer, device):
            chosen = fewer
    chosen = _enlarged(request, _deepened(request, chosen, device), device)
    return remedy(changed(request, joined(chosen)), joined(chosen), len(chosen))


def _deepened(request: Request, chosen: list[Change], device: Device) -> list[Change]:
    """With as many layers on the GPU as fit beside the other changes."""
    layers = [one for one in chosen if one.gpu_layers]
    if not layers:
        return chosen
    others = [one for one in chosen if one is not layers[0]]
    deeper = [*others, *_deepest(request, layers[0], device, others)]
    return deeper if _is_enough(request, deeper, device) else chosen


def _enlarged(request: Request, chosen: list[Change], device: Device) -> list[Change]:
    """With as many sequences at a time as fit beside the other changes, by doubling from one."""
    place = next((place for place, one in enumerate(chosen) if one.batch), None)
    if place is None:
        return chosen
    best, size = chosen, 2
    while size < request.batch:
        larger = [*chosen[:place], in_parts(request, chosen[place], size), *chosen[place + 1 :]]
        if (request.options.trains and request.batch % size) or not _is_enough(request, larger, device):
            break
        best, size = larger, size * 2
    return best
