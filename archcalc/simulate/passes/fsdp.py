"""ZeRO-3, as FSDP2 runs it: a block's weights are gathered whole while it runs.

Those outside of blocks stay gathered, or are two groups of their own, unless one matrix is used at both ends.
"""

from __future__ import annotations

from functools import cache

from archcalc.core.ir import Module, Param, walk
from archcalc.core.mesh import Plan
from archcalc.core.precision import BYTES
from archcalc.run.precision_recipes import Recipe
from archcalc.simulate.model_ends import ModelEnds
from archcalc.simulate.schedule import Schedule, Stored
from archcalc.storage.places import Place


def hold_entering(schedule: Schedule) -> Schedule:
    """What enters a recomputed block stays, and so does its gradient, until the backward pass is done.

    Where all weights of a block are frozen, a hook on what enters it frees the gathered weights. The hook's list of
    nodes holds the leaf that a reentrant checkpoint made of that, and a leaf has its gradient.
    Source: PyTorch, torch/distributed/fsdp/_runtime_utils.py (_register_post_backward_reshard_only_hook),
    torch/autograd/graph.py (register_multi_grad_hook), torch/utils/checkpoint.py (CheckpointFunction)."""
    schedule.holds_entering = True
    return schedule


def gather_weights(
    schedule: Schedule, plan: Plan, recipe: Recipe, stored: Stored, *, reshard: str = "always", ends: bool = False
) -> Schedule:
    """`reshard` says which blocks free their gathered weights after the forward pass: always, all_but_last or never;
    `ends`, that what stands in front of the blocks is a group of its own, and so is what stands behind them."""
    width = BYTES[recipe.gathered or recipe.frozen]
    narrow = BYTES[recipe.gathered_matrices] if recipe.gathered_matrices else width

    def size(param: Param, matrix: int) -> int:
        """A quantised matrix is gathered as it is stored, and dequantised for its products."""
        if stored.quantised(param):
            return stored.weights(Place(param, 1), plan.size(param))
        return plan.size(param) * (matrix if len(param.axes) > 1 else width)

    @cache
    def of_block(block: Module) -> tuple[int, ...]:
        every = [(param, int(number)) for module, number in walk(block) for param in module.params.values()]
        return tuple(size(param, narrow) for param, number in every for _ in range(number // int(block.repeat)))

    schedule.shards = plan.shards
    blocks = schedule.blocks
    for group in blocks:
        group.gathered = of_block(group.module)
        group.reshards = reshard == "always" or (reshard == "all_but_last" and group is not blocks[-1])
    found = ModelEnds(schedule.root)
    sizes = [(param, size(param, width)) for param, number in found.outside for _ in range(number)]
    if ends and found.are_apart:
        schedule.gathered_first = tuple(each for param, each in sizes if param in found.ahead)
        schedule.gathered_last = tuple(each for param, each in sizes if param not in found.ahead)
    else:
        schedule.gathered_root = tuple(each for _, each in sizes)
    return schedule
