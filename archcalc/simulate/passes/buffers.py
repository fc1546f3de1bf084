"""Buffers that a training library has for itself from the first step on.

Transformer Engine hands autograd an unused tensor where the gradient of a matrix was added to the one that is there:
one for each shape, which stays (pytorch/module/base.py, get_dummy_wgrad). Its products have a workspace, grouped ones
of experts one more for each stream; head and router are products of PyTorch, with a workspace of their own. Under
sequence parallelism the head gathers its input into a buffer (Megatron-LM, megatron/core/tensor_parallel/layers.py).
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from archcalc.core.mesh import Plan
from archcalc.core.precision import BYTES, Policy
from archcalc.core.tensors import whole
from archcalc.core.tree import ops_in
from archcalc.simulate.passes.gradients import OF_PYTORCH, is_added_in_place, matrices
from archcalc.simulate.schedule import Schedule


def library_buffers(
    schedule: Schedule, plan: Plan, weights: str, activations: str, number: Callable[[str], int]
) -> Schedule:
    """`weights` and `activations` are number formats; `number` has the bytes of the library's workspaces, by name."""
    products = [op for op in ops_in(schedule.root) if op.traits.contraction and matrices(op)]
    fused = [op for op in products if all(is_added_in_place(op, param) for param in matrices(op))]
    shapes = set[tuple[int, int]]()
    for op in fused:  # on one GPU, of one expert; matrices that are one product lie above each other
        columns, experts = (prod(plan.part(dim) for dim in dims) for dims in (op.over, op.select))
        shapes.add((sum(plan.size(param) // experts for param in matrices(op)) // columns, columns))
    dummies = sum(rows * columns for rows, columns in shapes) * BYTES[weights]
    gathered = [plan.size(whole(op.inputs[0])) for op in products if op.traits.collective == "buffer"]
    largest = max(gathered, default=0) * Policy(activations).bytes_of("act")  # which several heads share
    roles = [param.weight_role for op in products for param in matrices(op)]
    of_pytorch = any(role in OF_PYTORCH or role.gives_scores or role.is_table for role in roles)
    linears = 1 + number("grouped_linear_streams") * any(op.select for op in products)
    workspaces = number("linear_workspace") * linears + number("cublas_workspace") * of_pytorch
    schedule.at_start["buffers"] = dummies + workspaces + largest
    return schedule
