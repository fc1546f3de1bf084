"""More devices of the same kind: after every change that costs less than a device.

Two ways are looked for: with changes that leave the results as they are, and, where that takes fewer devices, with
narrower numbers besides. Neither does less than was asked for. Whole computers are not joined (`Facts.shares_layers`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from archcalc.analyze.fit.change import Change, joined
from archcalc.analyze.fit.changes import Axis
from archcalc.analyze.fit.need import fits
from archcalc.analyze.fit.request import Request, changed, tried
from archcalc.analyze.fit.search import Remedy, remedy
from archcalc.analyze.fit.spread import Spread
from archcalc.run.device import Device

DEAR = 14  # changes that cost as much as host memory, or adapters in place of training, are no way to fewer devices
COST = 40


def on_more(request: Request, axes: Sequence[Axis], device: Device, name: str) -> Iterator[Remedy]:
    """The ways that there are, the one on fewer devices last; `name` is how a user calls the device."""
    cheap = [[one for one in axis if one.cost < DEAR and not one.cuts] for axis in axes]
    exact = [[one for one in axis if one.exact] for axis in cheap]
    fewest = None
    for ways in (exact, cheap):
        found = _spread(request, [axis[-1] for axis in ways if axis], device, name)
        if found and (fewest is None or found.gpus < fewest):
            fewest = found.gpus
            yield found


def _spread(request: Request, wanted: list[Change], device: Device, name: str) -> Remedy | None:
    """Over as few devices as the changes allow: without what the model does not allow, one by one and all together, and
    then without those that so many devices are enough without, the dearest first."""
    chosen: list[Change] = []
    for one in wanted:
        if tried(request, joined([*chosen, one])):
            chosen.append(one)
    gpus = Spread.of(changed(request, joined(chosen)), device).smallest(request.options.plan.gpus + 1)
    if gpus is None:
        return None
    for one in sorted(chosen, key=lambda one: -one.cost):
        fewer = [other for other in chosen if other is not one]
        spread = Spread.of(changed(request, joined(fewer)), device).over(gpus)
        if spread and fits(spread, device):
            chosen = fewer
    spread = Spread.of(changed(request, joined(chosen)), device).over(gpus)
    assert spread  # which was found to fit
    # Training with ZeRO-3, else with tensor parallelism, or with layers split among devices named together.
    price, plan = f"{gpus} devices instead of {request.options.plan.gpus}", spread.options.plan
    options = {"dp": plan.dp, "zero": 3} if request.options.trains else {"tp": plan.tp}
    more = Change(f"{gpus} GPUs", COST, price, options, exact=True)
    if spread.split:
        more = replace(more, options={}, typed=f"--gpu {gpus}x{name}")
    return replace(remedy(spread, joined([*chosen, more]), len(chosen) + 1), gpus=gpus)
