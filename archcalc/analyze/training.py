"""A training step's memory: the tree unrolled, and played with what the recipe, the optimizer and the plan hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from archcalc.analyze.casting import Autocasting, Fp8
from archcalc.analyze.compiled import compile_blocks, compile_loss
from archcalc.analyze.held_inputs import HeldInputs
from archcalc.analyze.levels import Levels
from archcalc.analyze.states import Keeping
from archcalc.analyze.steps import Node, Unrolling, steps, unrolled
from archcalc.analyze.timeline import Holding, Timeline
from archcalc.ir import Module, Param, Tensor, walk
from archcalc.places import Place
from archcalc.precision import BYTES, Policy
from archcalc.quantisation import Format

if TYPE_CHECKING:
    from archcalc.analyze.memory import Memory
    from archcalc.case import Case
    from archcalc.plan import Plan
    from archcalc.workload import Workload


def levels(memory: Memory, work: Workload, base: dict[str, int]) -> Levels:
    """Memory over a training step."""
    root = memory.build(work)
    played = Timeline(nodes(memory, root), holding(memory.case, memory.keeping, root, memory.states), trains=True)
    start = base if memory.case.accumulate > 1 else dict(base, gradients=0)
    return Levels(dict(start), stretch).play(played.sink)


def nodes(memory: Memory, root: Module) -> list[Node]:
    """The step as the recipe computes it, on one GPU."""
    case, policy = memory.case, Policy(memory.case.activations)
    unrolling = _kind(case)(policy, memory.trainable, case.recompute, sizes(case, policy))
    if isinstance(unrolling, HeldInputs):
        unrolling.held = case.format.holds
    found = unrolled(unrolling, root, _compiled(case))
    for step in steps(found):
        for cell in (*step.reads, *step.makes) if case.loss_chunks > 1 else ():
            if cell.is_logits and not cell.in_pieces:
                cell.bytes, cell.in_pieces = -(-cell.bytes // case.loss_chunks), True
    return found


def _kind(case: Case) -> type[Unrolling]:
    """How ops become steps under the recipe, or over the format of the weights."""
    if isinstance(case.format, Format) and case.format.holds_inputs:
        return HeldInputs
    kinds = {"autocast": Autocasting, "fp8": Fp8}
    return kinds.get(case.recipe.name if case.recipe else "", Unrolling)


def _compiled(case: Case) -> Callable[[list[Node]], None]:
    """What torch.compile changes: blocks, and the loss too where all is compiled."""

    def change(nodes: list[Node]) -> None:
        if case.compile != "none":
            compile_blocks(nodes)
        if case.compile == "all":
            compile_loss(nodes, BYTES[case.activations])

    return change


def sizes(case: Case, policy: Policy) -> Callable[[Tensor, Module], int]:
    """Bytes of a tensor on one GPU."""
    return lambda tensor, module: case.plan.size(tensor) * policy.bytes_of(tensor.role)


def stretch(module: Module) -> Module:
    """What an instant is remembered under: a block, or what stands directly in the model."""
    above: Module | None = module
    while above:
        if above.unit == "block" or (above.parent and not above.parent.parent):
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
        copies_stay=bool(recipe.copies),
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
        if recipe.copies and case.plan.zero < 3:
            return keeping.plan.size(param) * BYTES[recipe.copies]
        if case.format.is_quantised and case.format.holds(Place(param, 1)):
            return keeping.plan.size(param) * BYTES[recipe.weights] * max(1, case.format.widened)
        return 0

    return copy


def _gathered(case: Case, root: Module) -> Callable[[Module | None], int]:
    """Under ZeRO-3 a block's weights are gathered whole while it runs; those outside of blocks stay gathered."""
    if case.plan.zero < 3:
        return lambda module: 0
    assert case.recipe
    width = BYTES[case.recipe.gathered or case.recipe.copies or case.recipe.weights]
    blocks = [module for module, _ in walk(root) if module.unit == "block"]
    inside = {param for block in blocks for module, _ in walk(block) for param in module.params.values()}
    rest = sum(case.plan.size(param) * copies for param, copies in _params(root) if param not in inside) * width

    def gathered(module: Module | None) -> int:
        if module is None:
            return rest
        copies = int(module.repeat)
        return sum(case.plan.size(param) * number // copies for param, number in _params(module)) * width

    return gathered
