"""A training step's memory: the tree unrolled, and played with what the recipe, the optimizer and the plan hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

from archcalc.analyze.memory.buffers import buffers, is_fused
from archcalc.analyze.memory.decode_cache import Cached, CacheFormats, cached
from archcalc.analyze.memory.passes.bitsandbytes import hold_inputs
from archcalc.analyze.memory.passes.checkpointing import checkpoint
from archcalc.analyze.memory.passes.compiled import compile_blocks, compile_loss
from archcalc.analyze.memory.passes.loss_chunks import in_chunks, mark_logits
from archcalc.analyze.memory.passes.mixed_precision import fp8
from archcalc.analyze.memory.passes.offloaded_activations import offload_activations
from archcalc.analyze.memory.pipeline import in_flight
from archcalc.analyze.memory.profile import Happening, Simulated
from archcalc.analyze.memory.schedule import LOOPED, Pass, Runs, Schedule, schedule
from archcalc.analyze.memory.sharded_groups import Places
from archcalc.analyze.memory.simulate import simulate, simulate_unrolled
from archcalc.analyze.memory.states import Keeping
from archcalc.analyze.memory.step_policy import UNSHARDED, ShardedGroups, StepPolicy
from archcalc.analyze.memory.updates import updates
from archcalc.analyze.memory.workspaces import PRODUCTS, of_attention
from archcalc.core.ir import Module, Op, Param, Tensor, walk
from archcalc.core.precision import BYTES, Policy
from archcalc.storage.format import plain
from archcalc.storage.places import Place

if TYPE_CHECKING:
    from archcalc.core.mesh import Plan
    from archcalc.run.resolved import Run
    from archcalc.spec.workload import Workload


def simulated(root: Module, work: Workload, run: Run, keeping: Keeping, start: dict[str, int]) -> Simulated:
    """A training step, on top of the memory that is always allocated."""
    kept = states_between_steps(root, work, run)
    start = dict(start, state=sum(one.bytes for one in kept), buffers=buffers(root, run))
    step = step_schedule(root, run, keeping)
    changes = simulate(step, step_policy(root, run, keeping, start["gradients"]), trains=True)
    start = in_flight(start, step, run)
    return Simulated(start if _has_gradients(run) else dict(start, gradients=0), changes, step, kept)


def _has_gradients(run: Run) -> bool:
    """Whether all gradients are there from the beginning: of earlier micro-batches, or because they always are."""
    return run.accumulate > 1 or run.code.habits.gradients == "resident"


def states_between_steps(root: Module, work: Workload, run: Run) -> list[Cached]:
    """What a step hands to the next one, such as a memory of the last segment: one for each micro-batch."""
    act = plain(run.activations)
    kept = cached(root, work, CacheFormats(act, act, plan=run.plan))
    return [replace(one, bytes=run.accumulate * one.bytes) for one in kept]


def unrolled(root: Module, run: Run, keeping: Keeping, start: dict[str, int]) -> list[Happening]:
    """The same step without loops, every allocation with its block."""
    made = partial(step_schedule, root, run, keeping)
    return simulate_unrolled(made, step_policy(root, run, keeping, start["gradients"]), trains=True)


def step_schedule(root: Module, run: Run, keeping: Keeping, runs: Runs = LOOPED) -> Schedule:
    """The step on one GPU, with what every option changes about it."""
    policy = Policy(run.activations)

    def size(tensor: Tensor, module: Module) -> int:
        """What is kept between steps is there all the time, and counted apart."""
        return 0 if tensor.role == "cache" else run.plan.size(tensor) * policy.bytes_of(tensor.role)

    return schedule(root, policy, keeping.trainable, size, passes(run, keeping), runs)


def passes(run: Run, keeping: Keeping) -> Iterator[Pass]:
    """The passes of all options, in order: quantised products, mixed precision, checkpointing, compilation."""
    if run.code.habits.quantised_inputs == "held":
        yield hold_inputs(keeping.quantised)
    if run.recipe and run.recipe.products == "fp8":
        yield fp8(keeping.quantised)
    yield checkpoint(run.recompute)
    if run.compile != "none":
        yield compile_blocks
    if run.compile == "all":
        yield compile_loss(Policy(run.activations))
    yield mark_logits
    if run.loss_chunks > 1 and run.code.habits.loss_chunks in ("freed", "packed", "backward"):
        yield in_chunks(run.loss_chunks)
    if run.offload.activations:
        yield offload_activations


def step_policy(root: Module, run: Run, keeping: Keeping, gradients: int) -> StepPolicy:
    """What a step does with parameters, of all of which the gradients take so many bytes."""
    recipe, plan, optimizer = run.recipe, run.plan, run.optimizer
    assert recipe and optimizer
    width = BYTES[recipe.gradients]
    trained = [(one, copies) for one, copies in _params(root) if keeping.trained(one)]
    shares = sum(number * _share(plan, param) * width for param, number in trained)
    rounding = gradients - shares if plan.zero == 2 and not run.offload.updates else 0
    return StepPolicy(
        gradient=lambda param: plan.size(param) * BYTES[recipe.gathered or recipe.gradients],
        is_fused=lambda op, param: run.code.habits.gradients == "resident" and is_fused(op, param),
        cast_gradient=_cast_gradient(run, keeping),
        kept_gradient=lambda param: _share(plan, param) * width,
        summed=lambda param: _summed(plan, param) * BYTES[recipe.reduced or recipe.gradients],
        reduce_bucket=recipe.reduce_bucket * BYTES[recipe.gradients],
        rounding=rounding,
        copy=copies(run, keeping),
        copy_stays=lambda param: bool(recipe.copies) and not keeping.quantised(param),
        copies_are_cached=recipe.autocast,
        copy_is_cached=keeping.trained,
        groups=groups(run, root, keeping),
        reshard=run.reshard,
        accumulates=_has_gradients(run) and not run.offload.updates,
        offloads=run.offload.updates,
        reduces=plan.zero >= 2,
        updates=updates(run, root, keeping, lambda param: _here(plan, param)),
        gpus=plan.shards,
        keys_from=_keys_from(run),
        workspace=_workspaces(run),
        product_workspace=PRODUCTS if run.code.habits.kernels == "workspaces" else 0,
        loss_in_parts=_has_loss_in_parts(run),
        has_last_step=run.code.habits.longest == "every",
        logits_held=_logits_held(run),
    )


def _has_loss_in_parts(run: Run) -> bool:
    """Whether each GPU has the logits of a part of the vocabulary, and keeps them."""
    habits = run.code.habits
    return run.plan.tp > 1 and habits.parallel_head == "divided" and not run.code.overwrites_logits


def _logits_held(run: Run) -> str:
    """By the training loop; DPO's holds them until the reference model has run too."""
    return "loss" if run.method.logits == "held" else run.code.habits.logits_held


def _keys_from(run: Run) -> int:
    """GPUs of which keys and values are gathered."""
    return run.plan.cp if run.code.habits.context == "gathered" else 1


def _workspaces(run: Run) -> Callable[[Op], list[int]]:
    def sizes(op: Op) -> list[int]:
        counted = run.code.habits.kernels == "workspaces" and op.traits.attention_kernel
        return of_attention(op, run.plan, BYTES[run.activations]) if counted else []

    return sizes


def _params(root: Module) -> list[tuple[Param, int]]:
    return [(param, int(copies)) for module, copies in walk(root) for param in module.params.values()]


def _here(plan: Plan, param: Param) -> int:
    """Elements of one copy whose gradient and states this GPU keeps."""
    if plan.zero == 3:
        return plan.sharded(param)
    return -(-plan.size(param) // plan.shards) if plan.zero else plan.size(param)


def _summed(plan: Plan, param: Param) -> int:
    """Elements that FSDP copies into the flat input of a reduce-scatter."""
    return plan.sharded(param) * plan.shards if plan.zero == 3 else 0


def _share(plan: Plan, param: Param) -> int:
    """The same of the gradient alone; of a flat buffer rounded down, since it is rounded once and not for each."""
    return plan.size(param) // plan.shards if plan.zero == 2 else _here(plan, param)


def copies(run: Run, keeping: Keeping) -> Callable[[Param], int]:
    """The copy of a weight that its product reads."""
    recipe = run.recipe
    assert recipe

    def copy(param: Param) -> int:
        """A quantised weight is dequantised for each of its products, whatever the recipe casts."""
        if keeping.quantised(param):
            return run.plan.size(param) * BYTES[run.activations] * max(1, run.format.dequantised_copies)
        is_narrow = recipe.autocast and not keeping.is_wide(param)  # needs no copy
        return run.plan.size(param) * BYTES[recipe.copies] if recipe.copies and not is_narrow else 0

    return copy


def _cast_gradient(run: Run, keeping: Keeping) -> Callable[[Param], int]:
    """Under autocast, of the narrow copy that a product read."""
    copy = copies(run, keeping)
    assert run.recipe
    return copy if run.recipe.autocast else lambda param: 0


def groups(run: Run, root: Module, keeping: Keeping) -> ShardedGroups:
    """Under ZeRO-3 a block's weights are gathered whole while it runs; those outside of blocks stay gathered, or are
    two groups of their own, unless one matrix is used at both ends."""
    if run.plan.zero < 3:
        return UNSHARDED
    assert run.recipe
    width = BYTES[run.recipe.gathered or run.recipe.of_frozen]
    narrow = BYTES[run.recipe.gathered_matrices] if run.recipe.gathered_matrices else width
    places = Places(root)

    def gathered(param: Param, matrix: int) -> int:
        """A quantised matrix is gathered as it is stored, and dequantised for its products."""
        if keeping.quantised(param):
            return keeping.weights(Place(param, 1), run.plan.size(param))
        return run.plan.size(param) * (matrix if len(param.axes) > 1 else width)

    def sizes(params: Iterable[tuple[Param, int]], matrix: int = width) -> list[int]:
        return [gathered(param, matrix) for param, number in params for _ in range(number)]

    @cache
    def block(module: Module) -> list[int]:
        return sizes(((param, number // int(module.repeat)) for param, number in _params(module)), narrow)

    if run.code.habits.fsdp_groups == "ends" and places.are_apart:
        return ShardedGroups(block, sizes(places.first), sizes(places.last))
    return ShardedGroups(block, root=sizes(places.outside))
