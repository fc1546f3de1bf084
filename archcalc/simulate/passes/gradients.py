"""The gradients of parameters: made in the backward pass, or there from the beginning and added to, or none at all."""

from __future__ import annotations

from archcalc.core.ir import Op, Param
from archcalc.core.mesh import Plan
from archcalc.core.precision import BYTES
from archcalc.core.roles import Role
from archcalc.run.precision_recipes import Recipe
from archcalc.simulate.schedule import GradientBytes, Schedule

OF_PYTORCH = frozenset({Role.ROUTER, Role.SHARED_SCALE})  # products whose gradients are made and then added


def train(schedule: Schedule, plan: Plan, recipe: Recipe) -> Schedule:
    """A backward pass, which makes a gradient of each trained parameter."""
    schedule.trains = True
    schedule.reduce_bucket = recipe.reduce_bucket * BYTES[recipe.gradients]
    width = BYTES[recipe.gathered or recipe.gradients]
    wanted = (one[0] for step in schedule.steps() for one in step.grads if isinstance(one, tuple))
    schedule.gradients = {param: GradientBytes(plan.size(param) * width) for param in wanted}
    return schedule


def forward_only(schedule: Schedule) -> Schedule:
    """A model that answers: all tensors that are alive are activations, since none is only waiting for a gradient."""
    schedule.unread = "activations"
    return schedule


def accumulate(schedule: Schedule) -> Schedule:
    """Gradients of earlier micro-batches are there, and new ones are added to them."""
    schedule.accumulates = True
    return schedule


def add_in_place(schedule: Schedule) -> Schedule:
    """Products add to the gradients that are there without a copy, as Transformer Engine's do."""
    for step in schedule.steps():
        trained = [wanted[0] for wanted in step.grads if isinstance(wanted, tuple)]
        step.added_in_place = frozenset(param for param in trained if is_added_in_place(step.op, param))
    return schedule


def offload_gradients(schedule: Schedule, *, is_flat: bool) -> Schedule:
    """Gradients are copied to host RAM, be it to be added to what is there; shards of weights come from there. For
    gradients that are not those of shards DeepSpeed has a buffer as large as the largest of them.
    Source: DeepSpeed, deepspeed/runtime/zero/stage_1_and_2.py (temp_grad_buffer_for_gpu_offload)."""
    schedule.to_host = True
    if is_flat:
        schedule.at_start["buffers"] = max((size.made for size in schedule.gradients.values()), default=0)
    return schedule


def is_added_in_place(op: Op, param: Param) -> bool:
    """Whether a product adds the gradient of its matrix to the one that is there."""
    return op.traits.contraction and param in matrices(op) and param.weight_role not in OF_PYTORCH


def matrices(op: Op) -> list[Param]:
    """What an op reads of linear layers and tables."""
    params = (tensor for tensor in op.inputs if isinstance(tensor, Param))
    return [one for one in params if one.weight_role.is_linear or one.weight_role.is_table]
