"""Whether a model fits on devices: memory needed and available, the largest batch and context, and possible changes.

    fit(load("llama-3-8b"), gpus=["rtx-4090", "2xrtx-3090"], mode="train", batch=4)

Takes every option of `archcalc memory`. The largest batch and the longest context are solved for, each with the
other unchanged. What fits, fits with the error band to spare.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from archcalc.analyze.fit.notes import notes
from archcalc.analyze.fit.placing import Placed, Placing
from archcalc.analyze.fit.question import Question
from archcalc.analyze.fit.remedies import remedies
from archcalc.analyze.fit.report import FitReport
from archcalc.analyze.fit.rows import row
from archcalc.analyze.fit.training_defaults import with_usual_precision
from archcalc.run.device_group import group
from archcalc.run.keywords import MemoryKeywords
from archcalc.run.options import Options
from archcalc.spec.option_checks import checked

if TYPE_CHECKING:
    from archcalc.model import Model

SPREAD = ("rtx-3060", "t4", "rtx-4090", "rtx-5090", "l40s", "a100-80gb", "h100", "h200", "b200", "mi300x")


@checked()
def fit(model: Model, gpus: Sequence[str] | str | None = None, **options: Unpack[MemoryKeywords]) -> FitReport:
    """Devices by name or memory size, `2xNAME` and `NAME+NAME` for several; a selection of common ones by default."""
    return fitted(model, gpus, Options.of("fit", options, besides=("gpus",)))


def fitted(model: Model, gpus: Sequence[str] | str | None, options: Options) -> FitReport:
    """The same, with all options as one value."""
    groups = list({one.name: one for one in map(group, gpus or SPREAD)}.values())
    if not gpus:
        groups.sort(key=lambda one: one.first.capacity)
    options, assumed = with_usual_precision(model, options, groups if gpus else ())
    placing = Placing(model, options)
    placed = [placing.on(one) for one in groups]
    helps, by_row = remedies(placed)
    rows = tuple(row(one, first) for one, first in zip(placed, by_row, strict=True))
    return FitReport(
        model=model.name,
        assumptions=(*_asked(placed).report.assumptions, *assumed, *notes(placed, rows)),
        scope=model.scope,
        memory=_asked(placed).report,
        band=_asked(placed).band,
        rows=rows,
        remedies=helps,
    )


def _asked(placed: Sequence[Placed]) -> Question:
    return placed[0].question
