"""A training step's memory: the tree unrolled, and played with what the recipe, the optimizer and the plan hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from archcalc.analyze.memory.decode_cache import Cached, CacheFormats, cached
from archcalc.analyze.memory.passes.bitsandbytes import save_inputs
from archcalc.analyze.memory.passes.checkpointing import checkpoint
from archcalc.analyze.memory.passes.compiled import compile_blocks, compile_loss
from archcalc.analyze.memory.passes.loss_chunks import in_chunks, mark_logits
from archcalc.analyze.memory.passes.mixed_precision import autocast, fp8
from archcalc.analyze.memory.profile import Simulated
from archcalc.analyze.memory.schedule import Pass, Schedule, schedule
from archcalc.analyze.memory.simulate import simulate
from archcalc.analyze.memory.states import Keeping
from archcalc.analyze.memory.step_policy import StepPolicy
from archcalc.core.ir import Module, Param, Region, Tensor, walk
from archcalc.core.precision import BYTES, Policy
from archcalc.storage.format import Format, plain

if TYPE_CHECKING:
    from archcalc.core.mesh import Plan
    from archcalc.run.case import Case
    from archcalc.spec.workload import Workload


def simulated(root: Module, work: Workload, case: Case, keeping: Keeping, start: dict[str, int]) -> Simulated:
    """A training step, on top of the memory that is always allocated."""
    kept = states_between_steps(root, work, case)
    start = dict(start, state=sum(one.bytes for one in kept))
    step = step_schedule(root, case, keeping)
    changes = simulate(step, step_policy(root, case, keeping, start["gradients"]), trains=True)
    return Simulated(start if case.accumulate > 1 else dict(start, gradients=0), changes, step, kept)


def states_between_steps(root: Module, work: Workload, case: Case) -> list[Cached]:
    """What a step hands to the next one, such as a memory of the last segment: one for each micro-batch."""
    act = plain(case.activations)
    kept = cached(root, work, CacheFormats(act, act, plan=case.plan))
    return [replace(one, bytes=case.accumulate * one.bytes) for one in kept]


def step_schedule(root: Module, case: Case, keeping: Keeping) -> Schedule:
    """The step on one GPU, with what every option changes about it."""
    policy = Policy(case.activations)

    def size(tensor: Tensor, module: Module) -> int:
        """What is kept between steps is there all the time, and counted apart."""
        return 0 if tensor.role == "cache" else case.plan.size(tensor) * policy.bytes_of(tensor.role)

    return schedule(root, policy, keeping.trainable, size, passes(case, keeping))


def passes(case: Case, keeping: Keeping) -> Iterator[Pass]:
    """The passes of all options, in order: quantised products, mixed precision, checkpointing, compilation."""
    if isinstance(case.format, Format) and case.format.holds_inputs:
        yield save_inputs(keeping.quantised)
    if case.recipe and case.recipe.name == "autocast":
        yield autocast()
    if case.recipe and case.recipe.name == "fp8":
        yield fp8(keeping.quantised)
    yield checkpoint(case.recompute)
    if case.compile != "none":
        yield compile_blocks
    if case.compile == "all":
        yield compile_loss(BYTES[case.activations])
    yield mark_logits
    if case.loss_chunks > 1:
        yield in_chunks(case.loss_chunks)


def step_policy(root: Module, case: Case, keeping: Keeping, gradients: int) -> StepPolicy:
    """What a step does with parameters, of all of which the gradients take so many bytes."""
    recipe, plan, optimizer = case.recipe, case.plan, case.optimizer
    assert recipe and optimizer
    made, kept = BYTES[recipe.gathered or recipe.gradients], BYTES[recipe.gradients]
    trained = [(one, copies) for one, copies in _params(root) if keeping.trained(one)]
    here = sum(copies * _here(plan, param) for param, copies in trained)
    shares = sum(copies * _share(plan, param) for param, copies in trained) * kept
    rounding = gradients - shares if plan.zero == 2 else 0
    update = 0 if recipe.master else here * optimizer.update * BYTES[recipe.states]
    return StepPolicy(
        gradient=lambda param: plan.size(param) * made,
        kept_gradient=lambda param: _share(plan, param) * kept,
        summed=lambda param: plan.sharded(param) * plan.shards * kept if plan.zero == 3 else 0,
        rounding=rounding,
        copy=_copies(case, keeping),
        copy_stays=lambda param: bool(recipe.copies) and not keeping.quantised(param),
        copies_are_cached=recipe.name == "autocast",
        gathered=_gathered(case, root),
        accumulates=case.accumulate > 1,
        reduces=plan.zero >= 2,
        update=update,
        keys_from=plan.cp,
        loss_in_parts=plan.tp > 1,
    )


def _params(root: Module) -> list[tuple[Param, int]]:
    return [(param, int(copies)) for module, copies in walk(root) for param in module.params.values()]


def _here(plan: Plan, param: Param) -> int:
    """Elements of one copy whose gradient and states this GPU keeps."""
    if plan.zero == 3:
        return plan.sharded(param)
    return -(-plan.size(param) // plan.shards) if plan.zero else plan.size(param)


def _share(plan: Plan, param: Param) -> int:
    """The same of the gradient alone; of a flat buffer rounded down, since it is rounded once and not for each."""
    return plan.size(param) // plan.shards if plan.zero == 2 else _here(plan, param)


def _copies(case: Case, keeping: Keeping) -> Callable[[Param], int]:
    recipe = case.recipe
    assert recipe

    def copy(param: Param) -> int:
        """A quantised weight is dequantised for each of its products, whatever the recipe casts."""
        if keeping.quantised(param):
            return case.plan.size(param) * BYTES[case.activations] * max(1, case.format.dequantised_copies)
        if recipe.copies and case.plan.zero < 3:
            return case.plan.size(param) * BYTES[recipe.copies]
        return 0

    return copy


def _gathered(case: Case, root: Module) -> Callable[[Module | None], int]:
    """Under ZeRO-3 a block's weights are gathered whole while it runs; those outside of blocks stay gathered."""
    if case.plan.zero < 3:
        return lambda module: 0
    assert case.recipe
    width = BYTES[case.recipe.gathered or case.recipe.copies or case.recipe.weights]
    blocks = [module for module, _ in walk(root) if module.region == Region.BLOCK]
    inside = {param for block in blocks for module, _ in walk(block) for param in module.params.values()}
    rest = sum(case.plan.size(param) * copies for param, copies in _params(root) if param not in inside) * width

    def gathered(module: Module | None) -> int:
        if module is None:
            return rest
        copies = int(module.repeat)
        return sum(case.plan.size(param) * number // copies for param, number in _params(module)) * width

    return gathered
