"""Copies of weights that their products read: cast by a recipe or by autocast, dequantised, or staged from host RAM."""

from __future__ import annotations

from collections.abc import Callable

from archcalc.core.ir import Param
from archcalc.core.mesh import Plan
from archcalc.core.precision import BYTES
from archcalc.run.precision_recipes import Recipe
from archcalc.simulate.nodes import WeightCopy
from archcalc.simulate.passes.stored import Stored
from archcalc.simulate.schedule import Pass, Schedule


def copy_for_products(size: Callable[[Param], int]) -> Pass:
    """So many bytes of a weight for each of its products, while it computes."""

    def change(schedule: Schedule) -> Schedule:
        for step in schedule.steps():
            if step.op.traits.matrix:
                copies = (WeightCopy(param, size(param)) for param in step.weights)
                step.weight_copies.extend(copy for copy in copies if copy.bytes)
        return schedule

    return change


def dequantise(stored: Stored, plan: Plan, width: int, number: int) -> Pass:
    """A quantised weight is dequantised for each of its products, to so many copies of `width` bytes an element."""

    def size(param: Param) -> int:
        return plan.size(param) * width * max(1, number) if stored.quantised(param) else 0

    return copy_for_products(size)


def cast_size(stored: Stored, plan: Plan, recipe: Recipe) -> Callable[[Param], int]:
    """Bytes of a cast copy; a weight that autocast finds narrow needs none, and a quantised one is dequantised."""

    def size(param: Param) -> int:
        is_narrow = recipe.autocast and not stored.is_wide(param)
        return 0 if is_narrow or stored.quantised(param) else plan.size(param) * BYTES[recipe.copies]

    return size


def cast_weights(stored: Stored, plan: Plan, recipe: Recipe) -> Pass:
    """A narrower copy of each weight, cached until the backward pass has used it, or until autocast forgets it behind
    the loss; what is not trained lives as long as autograd saves it.

    Autocast leaves some products in their weight's number format, and casts the gradient of a copy back."""
    size = cast_size(stored, plan, recipe)

    def change(schedule: Schedule) -> Schedule:
        schedule.empties_autocast = recipe.autocast
        for step in schedule.steps():
            if recipe.autocast and step.op.traits.autocast == "weight":
                step.weight_copies = []
                continue
            if recipe.autocast and step.op.traits.autocast == "narrow":
                trained = [wanted[0] for wanted in step.grads if isinstance(wanted, tuple)]
                step.cast_gradients = {param: size(param) for param in trained if size(param)}
            for param in step.weights if step.op.traits.matrix else ():
                is_saved = param in step.saved_weights
                copy = WeightCopy(param, size(param), "weights", stored.trained(param), is_saved)
                step.weight_copies.extend([copy] if copy.bytes else [])
        return schedule

    return change
