"""What an optimizer's step allocates: of all parameters at once, of one after the other, or nothing."""

from __future__ import annotations

from archcalc.core.ir import Module, walk
from archcalc.core.mesh import Plan
from archcalc.core.precision import BYTES
from archcalc.run.optimizers import Optimizer
from archcalc.run.precision_recipes import Recipe
from archcalc.simulate.passes.zero import own_elements
from archcalc.simulate.schedule import Schedule, Stored

MOST_TENSORS = 20_000  # of which each is a block of its own, as an allocator would see it
COPIES = 2  # of equal layers beyond that: the second begins behind the first, as all others do


def update_by_fused_kernel(schedule: Schedule, plan: Plan, recipe: Recipe, stored: Stored) -> Schedule:
    """Master weights, and weights beside resident gradients: needs nothing but gradients that are flat and wide."""
    whole = _trained_elements(schedule.root, plan, stored)
    schedule.updates = [[whole * BYTES[width] for width in (recipe.gradients, recipe.states)]]
    return schedule


def update(schedule: Schedule, plan: Plan, optimizer: Optimizer, recipe: Recipe, stored: Stored) -> Schedule:
    """By an optimizer that works on all parameters at once, or on one after the other: a module's own, then those of
    its layers, of many equal ones only some."""
    root, width = schedule.root, optimizer.update * BYTES[recipe.states]
    number = sum(int(copies) * len(module.params) for module, copies in walk(root))
    if number > MOST_TENSORS and not optimizer.one_by_one:
        schedule.updates = [[_trained_elements(root, plan, stored) * width]]
        return schedule
    owning = {above for module, _ in walk(root) if module.params for above in module.ancestry}
    most = COPIES if number > MOST_TENSORS else number
    sizes: list[int] = []
    waiting = [root]
    while waiting:
        module = waiting.pop()
        sizes.extend(own_elements(plan, one) * width for one in module.params.values() if stored.trained(one))
        for child in reversed([child for child in module.children if child in owning]):
            waiting.extend([child] * min(int(child.repeat), most))
    schedule.updates = [sizes]
    if optimizer.one_by_one:
        # a root and a quotient, while a variable holds the last parameter's quotient
        # Source: PyTorch, _single_tensor_adam in torch/optim/adam.py
        schedule.updates = [[before, size, size] for before, size in zip([0, *sizes], sizes, strict=False)]
    return schedule


def _trained_elements(root: Module, plan: Plan, stored: Stored) -> int:
    every = [(param, int(copies)) for module, copies in walk(root) for param in module.params.values()]
    return sum(own_elements(plan, param) * copies for param, copies in every if stored.trained(param))
