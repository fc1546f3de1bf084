"""The choices of a run that an answer shows: sizes first, then what the model's layers have a use for, then the plan."""

from __future__ import annotations

from archcalc.core.ir import Module, Region, walk
from archcalc.core.mesh import Plan
from archcalc.run.choice import Choice, Reason
from archcalc.run.resolved import Run
from archcalc.run.size_choices import size_choices
from archcalc.spec.workload import Workload


def shown_choices(run: Run, work: Workload, root: Module) -> tuple[Choice, ...]:
    """In the order of the first line; the code or engine stands last."""
    *chosen, last = (each for each in run.choices if applies(each, root))
    return (*size_choices(work), *_plan(run.plan), *chosen, last)


def applies(choice: Choice, root: Module) -> bool:
    """An attention kernel is chosen where there is attention."""
    return choice.name != "attention" or any(module.region == Region.CORE for module, _ in walk(root))


def _plan(plan: Plan) -> list[Choice]:
    words = " · ".join(plan.words())
    return [Choice("plan", words, words, Reason.ASKED)] if words else []
