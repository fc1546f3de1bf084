"""A memory report: the peak of a simulated step, by part and by layer, with all that it takes for granted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from archcalc.analyze.memory import inference
from archcalc.analyze.memory.allocator_notes import allocator_notes
from archcalc.analyze.memory.assumptions import assumptions
from archcalc.analyze.memory.claims import claim_notes, claims_of
from archcalc.analyze.memory.history import history_notes
from archcalc.analyze.memory.host import Host
from archcalc.analyze.memory.layer_table import kind_of
from archcalc.analyze.memory.marginals import Growth
from archcalc.analyze.memory.outputs import outputs
from archcalc.analyze.memory.replicated import left_whole, undivided
from archcalc.analyze.memory.report import USUAL_DEPTH, MemoryReport
from archcalc.analyze.memory.rows import Numbers, numbers, rows
from archcalc.analyze.memory.simulated import Simulated
from archcalc.analyze.params_rows import count_where
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.ir import Module
from archcalc.core.later import Later
from archcalc.core.mesh import Plan
from archcalc.core.notes import memory_notes_of, notes_of, work_notes_of
from archcalc.core.precision import BYTES
from archcalc.run import sequence_parallel
from archcalc.run.choice import notes_of as notes_of_choices
from archcalc.run.code.support import unmeasured_ops
from archcalc.run.resolved import Run
from archcalc.run.shown import of_model, shown_choices
from archcalc.simulate.levels import Levels
from archcalc.simulate.timeline import stages

if TYPE_CHECKING:
    from archcalc.analyze.memory.answer import Memory
    from archcalc.spec.workload import Workload

LAYERS = {  # what the rows of layers are, since they need not add up to the total
    "train": "layer rows: all that a layer stores at any time of the step, so the sum can exceed the peak; outputs: "
    "numbers that a forward pass makes, activation functions in place",
    "cache": "layer rows: weights and cache; activations and overhead belong to no layer",
    "outputs": "layer rows: numbers that each layer makes, activation functions in place; a forward pass alone frees "
    "what nothing reads any more, and its peak is what stands under activations",
}


def reported(memory: Memory, work: Workload, *, depth: int | None, timeline: bool) -> MemoryReport:
    """The full report on one workload."""
    run, step, root = memory.run, memory.simulated_at(work), memory.build(work)
    levels = Levels(dict(step.start)).play(step.changes)
    whole = undivided(memory.parameters, step.schedule.saved(), step.cache)
    beside, device = memory.residents(work), memory.on_device(work, step)
    claims, growth = claims_of(run, memory.model), Growth(memory, work, levels.peak.bytes)
    trainable = int(count_where(memory.tree, memory.keeping.trainable))
    layers = rows(root, memory.parameters, step.schedule, step.cache, _numbers(memory, work))
    read_so = [Assumption(Topic.TABLE, LAYERS[kind_of(layers, trains=run.trains)])] if depth and not timeline else []
    return MemoryReport(
        model=memory.model.name,
        assumptions=(
            *_assumed(memory, root, step),
            *allocator_notes(run, device),
            *claim_notes(run, claims),
            *history_notes(memory, work, levels.peak.bytes, claims.measured),
            *memory.offloading.notes(inference.prompt_of(work, run)),
            *_notes(root),
            *unmeasured_ops(root, run.code),
            *_stage_notes(run),
            *left_whole(whole),
            *(note for one in beside for note in one.assumptions),
            *read_so,
            *work.assumptions,
        ),
        scope=memory.model.scope,
        mode=run.mode,
        batch=work.batch,
        lengths=work.lengths,
        context=work.context,
        plan=run.plan,
        peak=levels.peak,
        instants=tuple(levels.instants),
        states=memory.parameters.states,
        undivided=whole,
        padding=sum(one.padding for one in memory.parameters.held),
        choices=shown_choices(run, work, memory.model),
        cards=run.cards,
        kind=run.devices,
        rows=(*layers, *(one.row for one in beside if one.held)),
        elsewhere={one.title: one.elsewhere for one in beside if one.elsewhere},
        estimates=run.estimates,
        weights=run.format.name,
        trainable=trainable,
        frozen=int(count_where(memory.tree, lambda param: True)) - trainable,
        depth=depth or USUAL_DEPTH,
        timeline=timeline,
        device=device,
        claims=claims,
        host=host_of(memory, work, step),
        stages=Later(lambda: stages(step.start, step.changes)),
        growth=Later(lambda: growth.marginals) if memory.model.is_computed else None,
    )


def _numbers(memory: Memory, work: Workload) -> Numbers:
    """By the forward pass of the model itself: training libraries add casts and copies of their own."""
    run = memory.run
    alone = sequence_parallel.one_part(replace(run.method.of_step(work), mode="forward"), run.plan.cp)
    root = memory.model.build(alone) if run.trains else memory.build(work)
    return numbers(outputs(root, run.plan.size), BYTES[run.activations], memory.parameters)


def _assumed(memory: Memory, root: Module, step: Simulated) -> Iterator[Assumption]:
    chosen = notes_of_choices(of_model(memory.run, memory.model))
    return assumptions(memory.run, chosen, root, step.cache, of_file=memory.model.spec.family == "weights")


def host_of(memory: Memory, work: Workload, step: Simulated) -> Host | None:
    prompt, whole = inference.prompt_of(work, memory.run), replace(memory.run, plan=Plan())
    cache = memory.cached_at(work, whole) if memory.run.offload.gpu_layers is not None else []
    return memory.offloading.host(memory.build(prompt), prompt, step, cache)


def _stage_notes(run: Run) -> Iterator[Assumption]:
    if run.stage:
        yield Assumption(Topic.PARALLELISM, run.stage.about(run.accumulate), run.stage.number + 1)


def _notes(root: Module) -> tuple[Assumption, ...]:
    return (*notes_of(root), *work_notes_of(root), *memory_notes_of(root))
