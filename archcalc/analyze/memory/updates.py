"""What an optimizer's step allocates: of all parameters at once, of one after the other, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from archcalc.core.ir import Module, Param, walk
from archcalc.core.precision import BYTES

if TYPE_CHECKING:
    from archcalc.analyze.memory.states import Keeping
    from archcalc.run.resolved import Run

Turns = list[list[int]]  # blocks that exist at once, turn after turn
MOST_TENSORS = 20_000  # of which each is a block of its own, as an allocator would see it
COPIES = 2  # of equal layers beyond that: the second begins behind the first, as all others do


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
    copies = [(param, int(number)) for module, number in walk(root) for param in module.params.values()]
    trained = [(elements(param), number) for param, number in copies if keeping.trained(param)]
    whole = sum(size * number for size, number in trained)
    if is_fused:
        return [[whole * BYTES[width] for width in (recipe.gradients, recipe.states)]]
    width = optimizer.update * BYTES[recipe.states]
    is_folded = sum(number for _, number in copies) > MOST_TENSORS
    if is_folded and not optimizer.one_by_one:
        return [[whole * width]]
    every = _in_order(root, COPIES if is_folded else None)
    sizes = [elements(param) * width for param in every if keeping.trained(param)]
    return _one_by_one(sizes) if optimizer.one_by_one else [sizes]


def _in_order(module: Module, copies: int | None) -> list[Param]:
    """Every parameter: a module's own, then those of its layers; of equal layers all, or `copies` at the most."""
    once = [*module.params.values(), *(param for child in module.children for param in _in_order(child, copies))]
    repeat = int(module.repeat) if once else 0
    return once * (repeat if copies is None else min(repeat, copies))


def _one_by_one(sizes: list[int]) -> Turns:
    """A root and a quotient, while a variable holds the last parameter's quotient.

    Source: PyTorch, _single_tensor_adam in torch/optim/adam.py."""
    return [[before, size, size] for before, size in zip([0, *sizes], sizes, strict=False)]
