"""A memory report: the peak of a simulated step, by part and by layer, with all that it takes for granted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial

from archcalc.analyze.memory import inference
from archcalc.analyze.memory.allocator_notes import allocator_notes
from archcalc.analyze.memory.assumptions import assumptions
from archcalc.analyze.memory.claims import claim_notes, claims_of
from archcalc.analyze.memory.course import course
from archcalc.analyze.memory.deployment import Deployment, deploy
from archcalc.analyze.memory.history import history_notes
from archcalc.analyze.memory.layer_table import kind_of
from archcalc.analyze.memory.marginals import Marginals, chosen_sizes, marginals
from archcalc.analyze.memory.outputs import outputs
from archcalc.analyze.memory.peak import Peak, cache_bytes, peak
from archcalc.analyze.memory.profile import Levels, Simulated
from archcalc.analyze.memory.replicated import left_whole, undivided
from archcalc.analyze.memory.report import USUAL_DEPTH, MemoryReport
from archcalc.analyze.memory.rows import Numbers, numbers, rows
from archcalc.analyze.option_checks import check_sizes
from archcalc.analyze.params_rows import count_where
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError
from archcalc.core.ir import Module
from archcalc.core.later import Later
from archcalc.core.notes import memory_notes_of, notes_of, work_notes_of
from archcalc.core.precision import BYTES
from archcalc.run import sequence_parallel
from archcalc.run.choice import notes_of as notes_of_choices
from archcalc.run.code.support import unmeasured_ops
from archcalc.run.resolved import Run
from archcalc.run.shown import of_model, shown_choices
from archcalc.spec.sizes import Sizes
from archcalc.spec.workload import Workload

LAYERS = {  # what the rows of layers are, since they need not add up to the total
    "train": "layer rows: all that a layer stores at any time of the step, so the sum can exceed the peak; outputs: "
    "numbers that a forward pass makes, activation functions in place",
    "cache": "layer rows: weights and cache; activations and overhead belong to no layer",
    "outputs": "layer rows: numbers that each layer makes, activation functions in place; a forward pass alone frees "
    "what nothing reads any more, and its peak is what stands under activations",
}


def report(deployment: Deployment, sizes: Sizes, *, depth: int | None = None, timeline: bool = False) -> MemoryReport:
    """Memory at some sizes; those that are left out come from the spec. `depth` and `timeline` choose what is shown."""
    check_sizes(deployment.workload(sizes), deployment.options)
    found = peak(deployment, sizes)
    deployment, work, run = found.deployment, found.work, found.deployment.run
    (root, step, beside), parameters, network = found.played, deployment.parameters, deployment.network
    levels = Levels(dict(step.start)).play(step.changes)
    whole = undivided(parameters, step.schedule.saved(), step.cache)
    claims = claims_of(run, network)
    trainable = int(count_where(deployment.tree, deployment.keeping.trainable))
    layers = rows(root, parameters, step.schedule, step.cache, _numbers(deployment, work))
    read_so = [Assumption(Topic.TABLE, LAYERS[kind_of(layers, trains=run.trains)])] if depth and not timeline else []
    return MemoryReport(
        model=network.name,
        assumptions=(
            *_assumed(deployment, root, step),
            *allocator_notes(run, found.device),
            *claim_notes(run, claims),
            *history_notes(run.code.name, found.bytes, _earlier(found), claims.measured),
            *deployment.offloading.notes(inference.prompt_of(work, run)),
            *_notes(root),
            *unmeasured_ops(root, run.code),
            *_stage_notes(run),
            *left_whole(whole),
            *(note for one in beside for note in one.assumptions),
            *read_so,
            *work.assumptions,
        ),
        scope=network.scope,
        mode=run.mode,
        batch=work.batch,
        lengths=work.lengths,
        context=work.context,
        plan=run.plan,
        peak=levels.peak,
        instants=tuple(levels.instants),
        states=parameters.states,
        undivided=whole,
        padding=sum(one.padding for one in parameters.held),
        choices=shown_choices(run, work, network, {*run.said, *sizes.given()}),
        cards=run.cards,
        kind=run.devices,
        rows=(*layers, *(one.row for one in beside if one.held)),
        elsewhere={one.title: one.elsewhere for one in beside if one.elsewhere},
        estimates=run.estimates,
        weights=run.format.name,
        trainable=trainable,
        frozen=int(count_where(deployment.tree, lambda param: True)) - trainable,
        depth=depth or USUAL_DEPTH,
        timeline=timeline,
        device=found.device,
        outside=max(found.required - found.bytes, 0) if run.engine.fills_device else 0,
        claims=claims,
        host=found.host,
        stages=Later(lambda: course(step)),
        growth=Later(lambda: _growth(found)) if network.is_computed else None,
    )


def _numbers(deployment: Deployment, work: Workload) -> Numbers:
    """By the forward pass of the model itself: training libraries add casts and copies of their own."""
    run = deployment.run
    alone = sequence_parallel.one_part(replace(run.method.of_step(work), mode="forward"), run.plan.cp)
    root = deployment.network.build(alone) if run.trains else deployment.build(work)
    return numbers(outputs(root, run.plan.size), BYTES[run.activations], deployment.parameters)


def _assumed(deployment: Deployment, root: Module, step: Simulated) -> Iterator[Assumption]:
    chosen = notes_of_choices(of_model(deployment.run, deployment.network))
    return assumptions(deployment.run, chosen, root, step.cache, of_file=deployment.network.spec.family == "weights")


def _earlier(found: Peak) -> dict[str, int]:
    """Bytes by the training code as it stood at the end of earlier years, where it has such a model and options."""
    deployment, code, sizes = found.deployment, found.deployment.run.code, {}
    for month in [] if code.version or not code.changed else code.ends_of_years():
        with suppress(InputError):
            asked = replace(deployment.options, code=f"{code.name}@{month}")
            sizes[month] = peak(deploy(deployment.network, asked, deployment.stage), found.sizes).bytes
    return sizes


def _growth(found: Peak) -> Marginals:
    """What a little more takes, asked for at the larger sizes."""
    deployment, work, longest = found.deployment, found.work, found.deployment.network.resolved.lengths
    now, number = chosen_sizes(work, longest), deployment.options.ngl
    if deployment.run.engine.fills_device and cache_bytes(deployment, now):
        pool = partial(cache_bytes, deployment)
        return marginals(work, longest, pool(now), pool, None)
    layer = None
    if number is not None and deployment.offloading.residence.first_on_gpu:
        more = deploy(deployment.network, deployment.options.changed(ngl=number + 1), deployment.stage)
        layer = peak(more, now).bytes - found.bytes
    return marginals(work, longest, found.bytes, lambda sizes: peak(deployment, sizes).bytes, layer)


def _stage_notes(run: Run) -> Iterator[Assumption]:
    if run.stage:
        yield Assumption(Topic.PARALLELISM, run.stage.about(run.accumulate), run.stage.number + 1)


def _notes(root: Module) -> tuple[Assumption, ...]:
    return (*notes_of(root), *work_notes_of(root), *memory_notes_of(root))
