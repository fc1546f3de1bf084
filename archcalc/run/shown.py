"""The choices of a run that an answer shows: sizes, then what the model's layers have a use for."""

from __future__ import annotations

from archcalc.core.ir import Module, Region, walk
from archcalc.run.choice import Choice
from archcalc.run.resolved import Run
from archcalc.run.size_choices import size_choices
from archcalc.spec.workload import Workload


def shown_choices(run: Run, work: Workload, root: Module) -> tuple[Choice, ...]:
    """In the order of the first line."""
    return (*size_choices(work, run.said), *(each for each in run.choices if applies(each, root)))


def applies(choice: Choice, root: Module) -> bool:
    """An attention kernel is chosen where there is attention."""
    return choice.name != "attention" or any(module.region == Region.CORE for module, _ in walk(root))
