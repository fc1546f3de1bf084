"""More devices of the same kind: after every change that costs less than a device.

Two ways are looked for: with changes that leave the results as they are, and, where that takes fewer devices, with
narrower numbers besides. Whole computers are not joined (`Facts.shares_layers`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from archcalc.analyze.fit.changes import Axis, Change, joined, setting
from archcalc.analyze.fit.search import Remedy

if TYPE_CHECKING:
    from archcalc.analyze.fit.question import Question
    from archcalc.core.mesh import Plan

DEAR = 14  # changes that cost as much as host memory, or adapters in place of training, are no way to fewer devices
COST = 40


def on_more(question: Question, axes: Sequence[Axis], safe: int) -> Iterator[Remedy]:
    """The ways that there are, the one on fewer devices last."""
    cheap = [[one for one in axis if one.cost < DEAR] for axis in axes]
    exact = [[one for one in axis if one.exact] for axis in cheap]
    fewest = None
    for ways in (exact, cheap):
        found = _spread(question, [axis[-1] for axis in ways if axis], safe)
        if found and (fewest is None or found.gpus < fewest):
            fewest = found.gpus
            yield found


def _spread(question: Question, chosen: list[Change], safe: int) -> Remedy | None:
    """Over as few devices as the changes allow, without those that are not needed for that."""
    chosen = _allowed(question, chosen)
    plan = question.changed(joined(chosen)).more(safe)
    if plan is None:
        return None

    def needed(fewer: list[Change], most: int = safe) -> int:
        return question.changed(joined(fewer)).on(plan.tp, plan.dp, plan.cp, most)

    share = needed(chosen) / needed(chosen, most=0)  # of the allocator: most likely as large without one of them
    for one in sorted(chosen, key=lambda one: -one.cost):
        fewer = [other for other in chosen if other is not one]
        if needed(fewer, most=0) * share <= safe and needed(fewer) <= safe:
            chosen = fewer
    return Remedy(joined([*chosen, _more(question, plan)]), needed(chosen), plan.gpus, len(chosen) + 1)


def _allowed(question: Question, chosen: list[Change]) -> list[Change]:
    """Without what the model does not allow, one by one and all together."""
    kept: list[Change] = []
    for one in chosen:
        if question.needed_with(joined([*kept, one]), most=0) is not None:
            kept.append(one)
    return kept


def _more(question: Question, plan: Plan) -> Change:
    """Training with ZeRO-3, else with tensor parallelism."""
    options = {"dp": plan.dp, "zero": 3} if question.trains else {"tp": plan.tp}
    price = f"{plan.gpus} devices instead of {question.report.plan.gpus}"
    return setting(f"{plan.gpus} GPUs", COST, price, options, exact=True)
