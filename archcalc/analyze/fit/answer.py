"""Whether a model fits on devices: memory needed and available, the largest batch and context, and possible changes.

    fit(load("llama-3-8b"), gpus=["rtx-4090", "2xrtx-3090"], mode="train", batch=4)

Takes every option of `archcalc memory`. The largest batch and the longest context are solved for, each with the
other unchanged. What fits, fits with the error band to spare.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from archcalc.analyze.fit.judging import judged, solved
from archcalc.analyze.fit.need import measured
from archcalc.analyze.fit.notes import CAPACITY, notes_on_columns
from archcalc.analyze.fit.placing import placed_on
from archcalc.analyze.fit.remedies import remedies
from archcalc.analyze.fit.report import FitReport
from archcalc.analyze.fit.search import Remedy
from archcalc.core.assumptions import Topic, all_on
from archcalc.network import Network
from archcalc.run.device import group, remarks, usual
from archcalc.run.keywords import FitKeywords
from archcalc.run.options import Options
from archcalc.spec.option_checks import checked


@checked
def fit(model: Network, gpus: Sequence[str] | str | None = None, **options: Unpack[FitKeywords]) -> FitReport:
    """Devices by name or memory size, `2xNAME` and `NAME+NAME` for several; a selection of common ones by default."""
    return fitted(model, gpus, Options.of("fit", options, besides=("gpus",)))


def fitted(
    model: Network, gpus: Sequence[str] | str | None, options: Options, *, verdicts_alone: bool = False
) -> FitReport:
    """The same, with all options as one value. `verdicts_alone` are quick: nothing is solved for."""
    groups = list({one.name: one for one in map(group, gpus or usual())}.values())
    if not gpus:
        groups.sort(key=lambda one: one.first.capacity)
    placed = placed_on(model, options, groups, are_named=bool(gpus))
    request, band = placed[0].request, measured(placed[0].request)
    helps: tuple[Remedy, ...] = ()
    if verdicts_alone:
        rows = [judged(each) for each in placed]
    else:
        helps, first = remedies(placed)
        rows = [solved(each, remedy) for each, remedy in zip(placed, first, strict=True)]
    said = all_on(Topic.DEVICE, dict.fromkeys(sentence for one in gpus or usual() for sentence in remarks(one)))
    return FitReport(
        model=model.name,
        assumptions=(
            *request.report.assumptions,
            *said,
            CAPACITY,
            *dict.fromkeys(note for one in placed for note in one.notes),
            *(() if verdicts_alone else notes_on_columns(request, rows)),
        ),
        scope=model.scope,
        memory=request.report,
        band=band,
        rows=tuple(rows),
        remedies=helps,
        is_solved=not verdicts_alone,
    )
