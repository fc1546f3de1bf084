"""More devices of the same kind: after every change that costs less than a device.

Two ways are looked for: with changes that leave the results as they are, and, where that takes fewer devices, with
narrower numbers besides. Neither does less than was asked for. Whole computers are not joined (`Facts.shares_layers`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from archcalc.analyze.fit.changes import Axis, Change, joined, setting
from archcalc.analyze.fit.search import Remedy, remedy
from archcalc.analyze.fit.spread import Spread

if TYPE_CHECKING:
    from archcalc.analyze.fit.question import Question
    from archcalc.run.device import Device

DEAR = 14  # changes that cost as much as host memory, or adapters in place of training, are no way to fewer devices
COST = 40


def on_more(question: Question, axes: Sequence[Axis], device: Device, name: str) -> Iterator[Remedy]:
    """The ways that there are, the one on fewer devices last; `name` is how a user calls the device."""
    cheap = [[one for one in axis if one.cost < DEAR and not one.cuts] for axis in axes]
    exact = [[one for one in axis if one.exact] for axis in cheap]
    fewest = None
    for ways in (exact, cheap):
        found = _spread(question, [axis[-1] for axis in ways if axis], device, name)
        if found and (fewest is None or found.gpus < fewest):
            fewest = found.gpus
            yield found


def _spread(question: Question, chosen: list[Change], device: Device, name: str) -> Remedy | None:
    """Over as few devices as the changes allow, without those that are not needed for that."""
    chosen = _allowed(question, chosen)
    gpus = _with(question, chosen, device).more()
    if gpus is None:
        return None
    chosen = _needed(question, chosen, device, gpus)
    spread = _with(question, chosen, device).over(gpus)
    assert spread  # which was found to fit
    found = remedy(spread, joined([*chosen, _more(question, spread, gpus, name)]), len(chosen) + 1)
    return replace(found, gpus=gpus)


def _needed(question: Question, chosen: list[Change], device: Device, gpus: int) -> list[Change]:
    """Without those that so many GPUs are enough without, the dearest first."""
    for one in sorted(chosen, key=lambda one: -one.cost):
        fewer = [other for other in chosen if other is not one]
        spread = _with(question, fewer, device).over(gpus)
        if spread and spread.fits(device):
            chosen = fewer
    return chosen


def _with(question: Question, chosen: list[Change], device: Device) -> Spread:
    return Spread.of(question.changed(joined(chosen)), device)


def _allowed(question: Question, chosen: list[Change]) -> list[Change]:
    """Without what the model does not allow, one by one and all together."""
    kept: list[Change] = []
    for one in chosen:
        if question.tried(joined([*kept, one])):
            kept.append(one)
    return kept


def _more(question: Question, spread: Question, gpus: int, name: str) -> Change:
    """Training with ZeRO-3, else with tensor parallelism, or with layers split among devices named together."""
    price, plan = f"{gpus} devices instead of {question.options.plan.gpus}", spread.options.plan
    if spread.split:
        return Change(f"{gpus} GPUs", f"--gpu {gpus}x{name}", price, {}, COST, exact=True)
    options = {"dp": plan.dp, "zero": 3} if question.trains else {"tp": plan.tp}
    return setting(f"{gpus} GPUs", COST, price, options, exact=True)
