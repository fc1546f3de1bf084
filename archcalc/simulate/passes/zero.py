"""ZeRO-2 and ZeRO-3: gradients are reduced over GPUs as soon as a block is done, and each GPU keeps its share."""

from __future__ import annotations

from archcalc.core.ir import Param, walk
from archcalc.core.mesh import ALIGNED, Plan
from archcalc.core.precision import BYTES
from archcalc.run.precision_recipes import Recipe
from archcalc.simulate.schedule import Schedule, Stored


def own_elements(plan: Plan, param: Param) -> int:
    """Of one copy, whose gradient and states this GPU has."""
    if plan.zero == 3:
        return plan.sharded(param)
    return -(-plan.size(param) // plan.shards) if plan.zero else plan.size(param)


def reduce_gradients(schedule: Schedule, plan: Plan, recipe: Recipe) -> Schedule:
    """FSDP copies gradients into the flat input of a reduce-scatter. ZeRO-2 has one flat buffer of all shares, which is
    rounded up once and not for each."""
    width, reduced = BYTES[recipe.gradients], BYTES[recipe.reduced or recipe.gradients]
    schedule.reduces = True
    for param, size in schedule.gradients.items():
        share = plan.size(param) // plan.shards if plan.zero == 2 else own_elements(plan, param)
        flat = plan.sharded(param) * plan.shards * reduced if plan.zero == 3 else 0
        schedule.gradients[param] = size._replace(share=share * width, flat=flat)
    return schedule


def round_up_shares(schedule: Schedule, plan: Plan, recipe: Recipe, stored: Stored) -> Schedule:
    """ZeRO-2's flat buffer of all trained parameters is padded once; experts that are dealt out have one of their own,
    over the GPUs that hold the same ones."""
    every = [(param, int(copies)) for module, copies in walk(schedule.root) for param in module.params.values()]
    elements: dict[int, int] = {}  # by how many GPUs divide them
    shares = 0
    for param, copies in every:
        if stored.trained(param):
            size, gpus = plan.size(param), plan.shards_of(param)
            elements[gpus] = elements.get(gpus, 0) + copies * size
            shares += copies * (size // plan.shards)
    padded = sum(-(-number // (ALIGNED * gpus)) * ALIGNED for gpus, number in elements.items())
    schedule.rounding = (padded - shares) * BYTES[recipe.gradients]
    return schedule
