"""Copies of weights that their products read: cast by a recipe or by autocast, dequantised, or staged from host RAM."""

from __future__ import annotations

from collections.abc import Callable

from archcalc.core.ir import Param
from archcalc.core.mesh import Plan
from archcalc.core.precision import BYTES
from archcalc.run.precision_recipes import Recipe
from archcalc.simulate.nodes import WeightCopy
from archcalc.simulate.schedule import Schedule, Stored


def copy_for_products(schedule: Schedule, size: Callable[[Param], int]) -> Schedule:
    """So many bytes of a weight for each of its products, while it computes."""
    for step in schedule.steps():
        if step.op.traits.matrix:
            copies = (WeightCopy(param, size(param)) for param in step.weights)
            step.weight_copies.extend(copy for copy in copies if copy.bytes)
    return schedule


def dequantise(schedule: Schedule, stored: Stored, plan: Plan, width: int, number: int) -> Schedule:
    """A quantised weight is dequantised for each of its products, to so many copies of `width` bytes an element."""
    each = width * max(1, number)
    return copy_for_products(schedule, lambda param: plan.size(param) * each if stored.quantised(param) else 0)


def cast_bytes(param: Param, stored: Stored, plan: Plan, recipe: Recipe) -> int:
    """Bytes of a cast copy; a weight that autocast finds narrow, as it is kept or as it is gathered, needs none, and a
    quantised one is dequantised."""
    kept = recipe.weights if stored.trained(param) else recipe.frozen
    is_narrow = recipe.autocast and BYTES[recipe.gathered or kept] != BYTES["fp32"]
    return 0 if is_narrow or stored.quantised(param) else plan.size(param) * BYTES[recipe.copies]


def cast_weights(schedule: Schedule, stored: Stored, plan: Plan, recipe: Recipe) -> Schedule:
    """A narrower copy of each weight, cached until the backward pass has used it, or until autocast forgets it behind
    the loss; what is not trained lives as long as autograd saves it.

    Autocast leaves some products in their weight's number format, and casts the gradient of a copy back."""
    schedule.empties_autocast = recipe.autocast
    for step in schedule.steps():
        if recipe.autocast and step.op.traits.autocast == "weight":
            step.weight_copies = []
            continue
        if not step.weights:
            continue
        sizes = {param: cast_bytes(param, stored, plan, recipe) for param in step.weights}
        if recipe.autocast and step.op.traits.autocast == "narrow":
            trained = [wanted[0] for wanted in step.grads if isinstance(wanted, tuple)]
            step.cast_gradients = {param: sizes[param] for param in trained if sizes[param]}
        for param in step.weights if step.op.traits.matrix else ():
            is_saved = param in step.saved_weights
            copy = WeightCopy(param, sizes[param], "weights", stored.trained(param), is_saved)
            step.weight_copies.extend([copy] if copy.bytes else [])
    return schedule
