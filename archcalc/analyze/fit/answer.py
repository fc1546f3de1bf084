"""Whether a model fits on devices: memory needed and available, the largest batch and context, and possible changes.

    fit(load("llama-3-8b"), gpus=["rtx-4090", "2xrtx-3090"], mode="train", batch=4)

Takes every option of `archcalc memory`. The largest batch and the longest context are solved for, each with the
other unchanged. What fits, fits with the error band to spare.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack

from archcalc.analyze.fit.kv_pool import kv_pool
from archcalc.analyze.fit.layer_split import shares
from archcalc.analyze.fit.need import cached, fits, measured, required, room
from archcalc.analyze.fit.notes import CAPACITY, notes_on_columns, on_startup
from archcalc.analyze.fit.remedies import remedies
from archcalc.analyze.fit.report import FitReport
from archcalc.analyze.fit.request import Placed, placed_on
from archcalc.analyze.fit.rows import Part, Row
from archcalc.analyze.fit.search import Remedy
from archcalc.analyze.fit.solve import UNBOUNDED, curve_of, longest_in
from archcalc.analyze.fit.spread import Spread
from archcalc.analyze.fit.startup import startup
from archcalc.analyze.fit.uses import Use, same_use
from archcalc.analyze.memory.measured import against
from archcalc.analyze.memory.peak import cache_bytes
from archcalc.analyze.placement import shares_layers
from archcalc.core.assumptions import Topic, all_on
from archcalc.core.progress import doing
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
    compared = None
    if options.measured:
        first = placed[0].request
        compared = against(first.deployment, first.sizes, first.report, options.measured)
        placed = placed_on(model, compared.applied(options), groups, are_named=bool(gpus))
    request, band = placed[0].request, measured(placed[0].request)
    helps: tuple[Remedy, ...] = ()
    uses: tuple[Use, ...] = ()
    if verdicts_alone:
        rows = [judged(each) for each in placed]
    else:
        helps, cheapest = remedies(placed)
        rows = [_solved(each, remedy) for each, remedy in zip(placed, cheapest, strict=True)]
        uses = tuple(same_use(model, options))
    said = all_on(Topic.DEVICE, dict.fromkeys(sentence for one in gpus or usual() for sentence in remarks(one)))
    notes = (*request.report.assumptions, *said, CAPACITY, *(note for one in placed for note in one.notes))
    notes += tuple(on_startup(rows))
    return FitReport(
        model=model.name,
        assumptions=(*dict.fromkeys(notes), *(() if verdicts_alone else notes_on_columns(request, rows))),
        scope=model.scope,
        memory=replace(request.report, measured=compared),
        band=band,
        rows=tuple(rows),
        remedies=helps,
        uses=uses,
        is_solved=not verdicts_alone,
    )


def judged(placed: Placed) -> Row:
    """What is needed on a device, and whether it fits; without what is solved for."""
    request, device, host = placed.request, placed.group.first, placed.request.options.host
    deployment, here, length = request.deployment, room(request, device), request.varying.asked
    parts: list[Part] = []
    pool = None  # of the whole device: it is filled, whatever the error band. An encoder keeps nothing for later tokens
    if request.split:
        held = shares(deployment, request.split, request.sizes)
        for (name, each), share in zip(placed.group.each, held, strict=True):
            parts.append(Part(name, (share.first, share.last), room(request, each), share.required))
        here = replace(here, capacity=sum(part.room.capacity for part in parts))
    elif length and deployment.run.engine.fills_device and cache_bytes(deployment, request.sizes):
        pool = kv_pool(request, length, device.capacity)
    printed = () if parts else startup(request, pool)
    return Row(
        gpu=placed.group.name,
        room=here,
        required_bytes=sum(part.required_bytes for part in parts) or required(request),
        memory=request.report,
        cached_bytes=cached(request),
        devices=placed.group.count,
        parts=tuple(parts),
        pool=pool,
        startup=printed,
        host_capacity=host,
        host_missing=0 if host is None else max(request.report.host_bytes - host, 0),
    )


def _solved(placed: Placed, remedy: Remedy | None) -> Row:
    """With the largest batch, the longest context and the fewest devices that fit."""
    request, device = placed.request, placed.group.first
    doing(f"solving for batch and context on {placed.group.name}")
    safe = room(request, device).safe
    batch, (length, limited_by) = curve_of(request, "batch").largest(safe), longest_in(request, safe)
    if request.split or not shares_layers(device):  # whole computers are not joined: one of them is enough, or none
        fewest = placed.group.count if fits(request, device) else None
    else:
        fewest = Spread.of(request, device).fewest()
    return replace(
        judged(placed),
        max_batch=None if batch == UNBOUNDED else batch,
        max_seq=length,
        limited_by=limited_by,
        gpus_needed=fewest,
        remedy=remedy,
    )
