"""A training step's memory: which passes a run's recipe, optimizer, code and plan make over its schedule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from archcalc.analyze.memory.decode_cache import CacheFormats, cached
from archcalc.analyze.memory.simulated import Simulated
from archcalc.analyze.memory.states import Keeping
from archcalc.core.ir import Module
from archcalc.core.precision import BYTES, Policy
from archcalc.simulate.build import EVERY, FIRST, TensorBytes, schedule
from archcalc.simulate.events import Event
from archcalc.simulate.expansion import expanded
from archcalc.simulate.passes.bitsandbytes import hold_inputs
from archcalc.simulate.passes.buffers import library_buffers
from archcalc.simulate.passes.checkpointing import checkpoint
from archcalc.simulate.passes.compiled import compile_blocks, compile_loss
from archcalc.simulate.passes.fp8 import fp8
from archcalc.simulate.passes.fsdp import gather_weights, hold_entering
from archcalc.simulate.passes.gradients import accumulate, add_in_place, offload_gradients, train
from archcalc.simulate.passes.logits import hold_logits, in_chunks, mark_logits, over_gpus
from archcalc.simulate.passes.offloaded_activations import offload_activations
from archcalc.simulate.passes.pipeline import in_flight
from archcalc.simulate.passes.updates import update, update_by_fused_kernel
from archcalc.simulate.passes.weight_copies import cast_weights, dequantise
from archcalc.simulate.passes.workspaces import gather_keys, kernel_workspaces
from archcalc.simulate.passes.zero import reduce_gradients, round_up_shares
from archcalc.simulate.schedule import Pass, Schedule
from archcalc.simulate.simulation import simulate
from archcalc.storage.format import plain

if TYPE_CHECKING:
    from archcalc.run.resolved import Run
    from archcalc.spec.workload import Workload


def simulated(root: Module, work: Workload, run: Run, keeping: Keeping, start: dict[str, int]) -> Simulated:
    """A training step, on top of the memory that is always allocated."""
    step, act = step_schedule(root, run, keeping), plain(run.activations)
    # what a step hands to the next one, such as a memory of the last segment: one for each micro-batch
    every = replace(work, batch=work.batch * run.method.sequences)
    handed = cached(root, every, CacheFormats(act, act, plan=run.plan))
    states = [replace(one, bytes=run.accumulate * one.bytes) for one in handed]
    start = dict(start, state=sum(one.bytes for one in states), buffers=0)
    for part, size in step.at_start.items():
        start[part] += size
    if not step.accumulates:  # gradients are made in the backward pass
        start["gradients"] = 0
    changes = simulate(step)
    return Simulated(start, changes, step, states, own=changes)


def unrolled(made: Callable[[int], Schedule], changes: list[Event] | None = None) -> list[Event]:
    """A step without loops, every allocation with its block. `made` is the schedule that follows so many runs of each
    layer; `changes` are those with loops, where they were simulated before."""
    whole = expanded(changes or simulate(made(FIRST)))
    return simulate(made(EVERY)) if whole is None else [*whole]


def step_schedule(root: Module, run: Run, keeping: Keeping, first: int = FIRST) -> Schedule:
    """The step on one GPU, with what every option changes about it."""
    policy = Policy(run.activations)
    return schedule(root, policy, keeping.trainable, TensorBytes(run.plan, policy), passes(run, keeping), first)


def passes(run: Run, keeping: Keeping) -> Iterator[Pass]:
    """The passes of all options in their order: what is saved, what becomes of parameters, then what a training loop
    holds and the micro-batches of a pipeline; DPO's loop holds logits until the reference model has run too."""
    facts, plan = run.code.habits, run.plan
    if facts.quantised_inputs == "held":
        yield partial(hold_inputs, is_quantised=keeping.quantised)
    if run.recipe and run.recipe.products == "fp8":
        yield partial(fp8, is_quantised=keeping.quantised)
    if run.recompute != "none":
        yield partial(checkpoint, recompute=run.recompute)
    if run.compile != "none":
        yield compile_blocks
    if run.compile == "all":
        yield partial(compile_loss, policy=Policy(run.activations))
    yield mark_logits
    if run.loss_chunks > 1 and facts.loss_chunks in ("freed", "packed", "backward"):
        yield partial(in_chunks, number=run.loss_chunks)
    if run.offload.activations:
        yield offload_activations
    if plan.tp > 1 and facts.parallel_head == "divided" and not run.code.overwrites_logits:
        yield over_gpus
    if plan.cp > 1 and facts.context == "gathered":
        yield partial(gather_keys, gpus=plan.cp)
    if facts.kernels == "workspaces":
        yield partial(kernel_workspaces, plan=plan, width=BYTES[run.activations])
    yield from _of_parameters(run, keeping)
    held = "loss" if run.method.logits == "held" else facts.logits_held
    if held != "no":
        yield partial(hold_logits, until=held, has_last_step=facts.longest == "every")
    if run.stage:
        yield partial(in_flight, number=run.stage.in_flight(run.accumulate), micro_batches=run.accumulate)


def _of_parameters(run: Run, keeping: Keeping) -> Iterator[Pass]:
    """Copies that products read, what ZeRO-3 gathers, a library's own buffers; then gradients: made or added to,
    reduced over GPUs, and turned into an update. Master weights are updated by a fused kernel, and so are weights
    beside resident gradients; what is updated in host RAM needs nothing here."""
    recipe, optimizer, plan, facts = run.recipe, run.optimizer, run.plan, run.code.habits
    assert recipe and optimizer
    if run.format.is_quantised:
        width, number = BYTES[run.activations], run.format.dequantised_copies
        yield partial(dequantise, stored=keeping, plan=plan, width=width, number=number)
    if recipe.copies:
        yield partial(cast_weights, stored=keeping, plan=plan, recipe=recipe)
    if plan.zero == 3 and run.lora and facts.reentrant == "yes" and not run.offload.activations:
        yield hold_entering
    if plan.zero == 3:
        ends = facts.fsdp_groups == "ends"
        yield partial(gather_weights, plan=plan, recipe=recipe, stored=keeping, reshard=run.reshard, ends=ends)
    if facts.dummies == "by_shape":
        own, act, number_of = recipe.weights, run.activations, run.code.number
        yield partial(library_buffers, plan=plan, weights=own, activations=act, number=number_of)
    yield partial(train, plan=plan, recipe=recipe)
    is_resident = facts.gradients == "resident"
    if is_resident:
        yield add_in_place
    if plan.zero >= 2:
        yield partial(reduce_gradients, plan=plan, recipe=recipe)
    if run.offload.updates:
        yield partial(offload_gradients, is_flat=plan.zero < 3)
        return
    if run.accumulate > 1 or is_resident:
        yield accumulate
    if plan.zero == 2:
        yield partial(round_up_shares, plan=plan, recipe=recipe, stored=keeping)
    is_fused = bool(recipe.master) or is_resident
    if is_fused and recipe.updates_flat:
        yield partial(update_by_fused_kernel, plan=plan, recipe=recipe, stored=keeping)
    if optimizer.update and not is_fused:
        yield partial(update, plan=plan, optimizer=optimizer, recipe=recipe, stored=keeping)
