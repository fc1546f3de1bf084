"""A training step's memory: which passes a run's recipe, optimizer, code and plan make over its schedule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from archcalc.analyze.memory.decode_cache import Cached, CacheFormats, cached
from archcalc.analyze.memory.simulated import Simulated, peak_of
from archcalc.analyze.memory.states import Keeping
from archcalc.core.ir import Module
from archcalc.core.precision import BYTES, Policy
from archcalc.simulate.build import EVERY, FIRST, schedule
from archcalc.simulate.events import Event
from archcalc.simulate.expansion import expanded
from archcalc.simulate.levels import Levels
from archcalc.simulate.passes.bitsandbytes import hold_inputs
from archcalc.simulate.passes.buffers import library_buffers
from archcalc.simulate.passes.checkpointing import checkpoint
from archcalc.simulate.passes.chunked_loss import in_chunks, mark_logits, over_gpus
from archcalc.simulate.passes.compiled import compile_blocks, compile_loss
from archcalc.simulate.passes.context_parallel import gather_keys
from archcalc.simulate.passes.fp8 import fp8
from archcalc.simulate.passes.fsdp import gather_weights
from archcalc.simulate.passes.gradients import accumulate, add_in_place, offload_gradients, train
from archcalc.simulate.passes.held_logits import hold_logits
from archcalc.simulate.passes.offloaded_activations import offload_activations
from archcalc.simulate.passes.pipeline import in_flight
from archcalc.simulate.passes.updates import update, update_by_fused_kernel
from archcalc.simulate.passes.weight_copies import cast_size, cast_weights, copy_for_products, dequantise
from archcalc.simulate.passes.workspaces import kernel_workspaces
from archcalc.simulate.passes.zero import reduce_gradients, round_up_shares
from archcalc.simulate.schedule import Pass, Schedule
from archcalc.simulate.simulation import simulate
from archcalc.simulate.sizes import TensorBytes
from archcalc.storage.format import plain

if TYPE_CHECKING:
    from archcalc.run.resolved import Run
    from archcalc.spec.workload import Workload

__all__ = ["Levels", "Simulated", "passes", "peak_of", "schedule", "simulated", "step_schedule", "unrolled"]


def simulated(root: Module, work: Workload, run: Run, keeping: Keeping, start: dict[str, int]) -> Simulated:
    """A training step, on top of the memory that is always allocated."""
    step = step_schedule(root, run, keeping)
    states = states_between_steps(root, work, run)
    start = dict(start, state=sum(one.bytes for one in states), buffers=0)
    for part, size in step.at_start.items():
        start[part] += size
    if not _has_gradients(run):
        start["gradients"] = 0
    changes = simulate(step)
    return Simulated(start, changes, step, states, own=changes)


def states_between_steps(root: Module, work: Workload, run: Run) -> list[Cached]:
    """What a step hands to the next one, such as a memory of the last segment: one for each micro-batch."""
    act = plain(run.activations)
    states = cached(root, work, CacheFormats(act, act, plan=run.plan))
    return [replace(one, bytes=run.accumulate * one.bytes) for one in states]


def unrolled(
    root: Module, run: Run, keeping: Keeping, start: dict[str, int], changes: list[Event] | None = None
) -> list[Event]:
    """The same step without loops, every allocation with its block; `changes` are those with loops, where they were
    simulated before."""
    whole = expanded(changes or simulate(step_schedule(root, run, keeping)))
    return simulate(step_schedule(root, run, keeping, EVERY)) if whole is None else [*whole]


def step_schedule(root: Module, run: Run, keeping: Keeping, first: int = FIRST) -> Schedule:
    """The step on one GPU, with what every option changes about it."""
    policy = Policy(run.activations)
    return schedule(root, policy, keeping.trainable, TensorBytes(run.plan, policy), passes(run, keeping), first)


def _has_gradients(run: Run) -> bool:
    """Whether all gradients are there from the beginning: of earlier micro-batches, or because they always are."""
    return run.accumulate > 1 or run.code.habits.gradients == "resident"


def passes(run: Run, keeping: Keeping) -> list[Pass]:
    """The passes of all options in their order: what is saved, what becomes of parameters, what others left."""
    return [*_of_tensors(run, keeping), *_of_weights(run, keeping), *_of_gradients(run, keeping), *_of_the_loop(run)]


def _of_tensors(run: Run, keeping: Keeping) -> Iterator[Pass]:
    """Quantised products, mixed precision, checkpointing, compilation, the loss, offloading, kernels."""
    facts, plan = run.code.habits, run.plan
    if facts.quantised_inputs == "held":
        yield hold_inputs(keeping.quantised)
    if run.recipe and run.recipe.products == "fp8":
        yield fp8(keeping.quantised)
    if run.recompute != "none":
        yield checkpoint(run.recompute)
    if run.compile != "none":
        yield compile_blocks
    if run.compile == "all":
        yield compile_loss(Policy(run.activations))
    yield mark_logits
    if run.loss_chunks > 1 and facts.loss_chunks in ("freed", "packed", "backward"):
        yield in_chunks(run.loss_chunks)
    if run.offload.activations:
        yield offload_activations
    if plan.tp > 1 and facts.parallel_head == "divided" and not run.code.overwrites_logits:
        yield over_gpus
    if plan.cp > 1 and facts.context == "gathered":
        yield gather_keys(plan.cp)
    if facts.kernels == "workspaces":
        yield kernel_workspaces(plan, BYTES[run.activations])


def _of_weights(run: Run, keeping: Keeping) -> Iterator[Pass]:
    """Copies that products read, what ZeRO-3 gathers, and a library's own buffers."""
    recipe, plan, facts = run.recipe, run.plan, run.code.habits
    assert recipe
    if run.format.is_quantised:
        yield dequantise(keeping, plan, BYTES[run.activations], run.format.dequantised_copies)
    if recipe.copies:
        yield cast_weights(keeping, plan, recipe)
    if plan.zero == 3:
        yield gather_weights(plan, recipe, keeping, reshard=run.reshard, ends=facts.fsdp_groups == "ends")
    if facts.dummies == "by_shape":
        yield library_buffers(plan, recipe.weights, run.activations, run.code.number)


def _of_gradients(run: Run, keeping: Keeping) -> Iterator[Pass]:
    """Made or added to, reduced over GPUs, and turned into an update. Master weights are updated by a fused kernel, and
    so are weights beside resident gradients; what is updated in host RAM needs nothing here."""
    recipe, optimizer, plan = run.recipe, run.optimizer, run.plan
    assert recipe and optimizer
    is_resident = run.code.habits.gradients == "resident"
    yield train(plan, recipe)
    if is_resident:
        yield add_in_place
    if plan.zero >= 2:
        yield reduce_gradients(plan, recipe)
    if run.offload.updates:
        yield offload_gradients
        return
    if _has_gradients(run):
        yield accumulate
    if plan.zero == 2:
        yield round_up_shares(plan, recipe, keeping)
    is_fused = bool(recipe.master) or is_resident
    if is_fused and recipe.updates_flat:
        yield update_by_fused_kernel(plan, recipe, keeping)
    if optimizer.update and not is_fused:
        yield update(plan, optimizer, recipe, keeping)


def _of_the_loop(run: Run) -> Iterator[Pass]:
    """What a training loop holds, and the micro-batches of a pipeline; DPO's loop holds logits until the reference
    model has run too."""
    facts = run.code.habits
    held = "loss" if run.method.logits == "held" else facts.logits_held
    if held != "no":
        yield hold_logits(held, has_last_step=facts.longest == "every")
    if run.stage:
        yield in_flight(run.stage.in_flight(run.accumulate), run.accumulate)


def forward_passes(run: Run, keeping: Keeping) -> list[Pass]:
    """Those of a forward pass without gradients by a model that is stored and divided as the one that is trained."""
    recipe, plan = run.recipe, run.plan
    assert recipe
    found = [dequantise(keeping, plan, BYTES[run.activations], run.format.dequantised_copies)]
    if recipe.copies:
        found.append(copy_for_products(cast_size(keeping, plan, recipe)))
    if plan.zero == 3:
        found.append(gather_weights(plan, recipe, keeping, ends=run.code.habits.fsdp_groups == "ends"))
    return found
