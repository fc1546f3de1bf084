"""A training step's memory: the tree unrolled, and played with what the recipe, the optimizer and the plan hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from archcalc.analyze.memory.passes.bitsandbytes import save_inputs
from archcalc.analyze.memory.passes.checkpointing import checkpoint
from archcalc.analyze.memory.passes.compiled import compile_blocks, compile_loss
from archcalc.analyze.memory.passes.loss_chunks import in_chunks, mark_logits
from archcalc.analyze.memory.passes.mixed_precision import autocast, fp8
from archcalc.analyze.memory.profile import Played
from archcalc.analyze.memory.schedule import Node, Pass, Unrolling, schedule
from archcalc.analyze.memory.simulate import Holding, Timeline
from archcalc.analyze.memory.states import Keeping
from archcalc.core.ir import Module, Param, Region, Tensor, walk
from archcalc.core.precision import BYTES, Policy
from archcalc.storage.format import Format

if TYPE_CHECKING:
    from archcalc.analyze.memory.answer import Memory
    from archcalc.core.mesh import Plan
    from archcalc.run.options import Case
    from archcalc.spec.workload import Workload


def played(memory: Memory, work: Workload, base: dict[str, int]) -> Played:
    """A training step, on top of what stands all the time."""
    root = memory.build(work)
    timeline = Timeline(nodes(memory, root), holding(memory.case, memory.keeping, root, memory.states), trains=True)
    start = base if memory.case.accumulate > 1 else dict(base, gradients=0)
    return Played(start, timeline.sink)


def nodes(memory: Memory, root: Module) -> list[Node]:
    """The step on one GPU, with what every option changes about it."""
    policy = Policy(memory.case.activations)
    unrolled = Unrolling(policy, memory.trainable, sizes(memory.case, policy)).run(root)
    return schedule(unrolled, passes(memory.case, memory.keeping))


def passes(case: Case, keeping: Keeping) -> Iterator[Pass]:
    """Every option's pass, in order: what products save, in which numbers, what is saved at all, what is fused."""
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


def sizes(case: Case, policy: Policy) -> Callable[[Tensor, Module], int]:
    """Bytes of a tensor on one GPU."""
    return lambda tensor, module: case.plan.size(tensor) * policy.bytes_of(tensor.role)


def stretch(module: Module) -> Module:
    """What an instant is remembered under: a block, or what stands directly in the model."""
    above: Module | None = module
    while above:
        if above.region == Region.BLOCK or (above.parent and not above.parent.parent):
            return above
        above = above.parent
    return module


def holding(case: Case, keeping: Keeping, root: Module, states: dict[str, int]) -> Holding:
    """What a step does with parameters."""
    recipe, plan, optimizer = case.recipe, case.plan, case.optimizer
    assert recipe and optimizer
    made, kept = BYTES[recipe.gathered or recipe.gradients], BYTES[recipe.gradients]
    trained = [(one, copies) for one, copies in _params(root) if keeping.trained(one)]
    here = sum(copies * _here(plan, param) for param, copies in trained)
    shares = sum(copies * _share(plan, param) for param, copies in trained) * kept
    return Holding(
        gradient=lambda param: plan.size(param) * made,
        kept_gradient=lambda param: _share(plan, param) * kept,
        summed=lambda param: plan.sharded(param) * plan.shards * kept if plan.zero == 3 else 0,
        rounding=states["gradients"] - shares if plan.zero == 2 else 0,
        copy=_copies(case, keeping),
        copy_stays=lambda param: bool(recipe.copies) and not keeping.quantised(param),
        copies_are_cached=recipe.name == "autocast",
        gathered=_gathered(case, root),
        accumulates=case.accumulate > 1,
        reduces=plan.zero >= 2,
        update=0 if recipe.master else here * optimizer.update * BYTES[recipe.states],
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
            return case.plan.size(param) * BYTES[case.activations] * max(1, case.format.widened)
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
