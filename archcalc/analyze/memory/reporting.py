"""A memory report: the peak of a simulated step, by part and by layer, with all that it takes for granted."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial

from archcalc.analyze.memory.assumptions import RULES, Answered
from archcalc.analyze.memory.claims import claims_of
from archcalc.analyze.memory.deployment import Deployment
from archcalc.analyze.memory.growth import growth
from archcalc.analyze.memory.outputs import outputs
from archcalc.analyze.memory.peak import peak, played
from archcalc.analyze.memory.replicated import undivided
from archcalc.analyze.memory.report import USUAL_DEPTH, MemoryReport
from archcalc.analyze.memory.rows import rows
from archcalc.analyze.memory.tables import kind_of
from archcalc.analyze.memory.tracing import timeline as op_by_op
from archcalc.analyze.memory.what_if import what_if
from archcalc.analyze.option_checks import check_sizes
from archcalc.core.later import Later
from archcalc.core.precision import BYTES
from archcalc.run.shown import shown_choices, size_choices
from archcalc.run.tree_changes import on_one_gpu
from archcalc.simulate.levels import stages
from archcalc.spec.sizes import Sizes


def report(deployment: Deployment, sizes: Sizes, *, depth: int | None = None, timeline: bool = False) -> MemoryReport:
    """Memory at some sizes; those that are left out come from the spec. `depth` and `timeline` choose what is shown."""
    check_sizes(deployment.workload(sizes), deployment.options)
    found = peak(deployment, sizes)
    deployment, work, run = found.deployment, found.work, found.deployment.run
    root, (step, residents, levels) = found.root, played(deployment, found.sizes)
    network, parameters = deployment.network, deployment.parameters
    whole = undivided(parameters, step.schedule.saved(), step.cache)
    forward = root
    if run.trains:  # of the model itself: training libraries add casts and copies of their own
        forward = network.build(replace(on_one_gpu(run, work), mode="forward"))
    claims, choices = claims_of(run, network, found.parts), shown_choices(run, network, forward)
    given_out, width = outputs(forward, run.plan.size), BYTES[run.activations]
    layers = rows(root, parameters, step.schedule, step.cache, given_out, width)
    table = kind_of(layers, trains=run.trains) if depth and not timeline else ""
    shown = (*layers, *(one.row for one in residents if one.held))
    answered = Answered(found, run, root, step, residents, choices, claims, whole, table)
    counts = Counter[bool]()
    for one in parameters.held:
        counts[deployment.keeping.trainable(one.param)] += one.copies * int(one.param.elements)
    device = Later(partial(getattr, found, "device")) if found.has_device else None
    highest = levels.peak
    line = Later(partial(op_by_op, deployment, found.sizes))
    outside = max(found.required - highest.bytes, 0) if run.engine.fills_device else 0
    return MemoryReport(
        model=network.name,
        assumptions=tuple(note for rule in RULES if rule.when(answered) for note in rule.notes(answered)),
        scope=network.scope,
        mode=run.mode,
        batch=work.batch,
        lengths=work.lengths,
        context=work.context,
        plan=run.plan,
        peak=highest,
        parts=highest.parts,
        instants=tuple(levels.instants),
        states=parameters.states,
        undivided=whole,
        padding=sum(one.padding for one in parameters.held),
        choices=(*size_choices(work, {*run.said, *sizes.given()}), *choices),
        cards=run.cards,
        kind=run.devices,
        rows=shown,
        layer_kind=kind_of(shown, trains=run.trains),
        elsewhere={one.title: one.elsewhere for one in residents if one.elsewhere},
        estimates=run.estimates,
        weights=run.format.name,
        trainable=counts[True],
        frozen=counts[False],
        depth=depth or USUAL_DEPTH,
        timeline=timeline,
        device=device,
        outside=outside,
        claims=claims,
        host=found.host,
        stages=Later(partial(stages, step.start, step.changes)),
        growth=Later(partial(growth, found)) if network.spec.is_computed else None,
        ops=line,
        what_if=Later(lambda: what_if(deployment, found.sizes, line.value)),
    )
