"""What an optimizer's step allocates: of all parameters at once, of one after the other, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from archcalc.core.ir import Module, Param
from archcalc.core.precision import BYTES
from archcalc.run.code.registered import ORDERS, in_order

if TYPE_CHECKING:
    from archcalc.analyze.memory.states import Keeping
    from archcalc.run.resolved import Run

Turns = list[list[int]]  # blocks that exist at once, turn after turn


def updates(run: Run, root: Module, keeping: Keeping, elements: Callable[[Param], int]) -> Turns:
    """`elements` of a parameter that this GPU updates. Master weights are updated by a fused kernel, which needs
    nothing but gradients that are flat and wide, and so are weights beside resident gradients; what is updated in host
    RAM needs nothing here."""
    recipe, optimizer = run.recipe, run.optimizer
    assert recipe and optimizer
    is_fused = bool(recipe.master) or run.code.habits.gradients == "resident"
    needs_nothing = not recipe.updates_flat if is_fused else not optimizer.update
    if needs_nothing or run.offload.updates:
        return []
    trained = [
        elements(param) for param in in_order(root, ORDERS[run.code.habits.registered]) if keeping.trained(param)
    ]
    if is_fused:
        return [[sum(trained) * BYTES[width] for width in (recipe.gradients, recipe.states)]]
    sizes = [number * optimizer.update * BYTES[recipe.states] for number in trained]
    return _one_by_one(sizes) if optimizer.one_by_one else [sizes]


def _one_by_one(sizes: list[int]) -> Turns:
    """A root and a quotient, while a variable holds the last parameter's quotient.

    Source: PyTorch, _single_tensor_adam in torch/optim/adam.py."""
    return [[before, size, size] for before, size in zip([0, *sizes], sizes, strict=False)]
