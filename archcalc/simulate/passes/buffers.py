"""Buffers that a training library has for itself from the first step on.

Transformer Engine hands autograd an unused tensor where the gradient of a matrix was added to the one that is there:
one for each shape, which stays (pytorch/module/base.py, get_dummy_wgrad). Its products have a workspace, grouped ones
of experts one more for each stream; head and router are products of PyTorch, with a workspace of their own. Under
sequence parallelism the head gathers its input into a buffer (Megatron-LM, megatron/core/tensor_parallel/layers.py).
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from archcalc.core.ir import Op
from archcalc.core.mesh import Plan
from archcalc.core.precision import BYTES, Policy
from archcalc.core.tensors import whole
from archcalc.core.tree import ops_in
from archcalc.simulate.passes.gradients import OF_PYTORCH, is_added_in_place, matrices
from archcalc.simulate.schedule import Pass, Schedule


def library_buffers(plan: Plan, weights: str, activations: str, number: Callable[[str], int]) -> Pass:
    """`weights` and `activations` are number formats; `number` has the bytes of the library's workspaces, by name."""

    def change(schedule: Schedule) -> Schedule:
        products = [op for op in ops_in(schedule.root) if op.traits.contraction and matrices(op)]
        fused = [op for op in products if all(is_added_in_place(op, param) for param in matrices(op))]
        dummies = sum(rows * columns for rows, columns in {_shape(op, plan) for op in fused}) * BYTES[weights]
        gathered = [plan.size(whole(op.inputs[0])) for op in products if op.traits.into_buffer]
        width = Policy(activations).bytes_of("act")
        largest = max(gathered, default=0) * width  # which several heads share
        schedule.at_start["buffers"] = dummies + _workspaces(products, number) + largest
        return schedule

    return change


def _shape(op: Op, plan: Plan) -> tuple[int, int]:
    """Rows and columns on one GPU, of one expert; matrices that are one product lie above each other."""
    columns = prod(plan.part(dim) for dim in op.over)
    one = [plan.size(param) // prod(plan.part(dim) for dim in op.select) for param in matrices(op)]
    return sum(one) // columns, columns


def _workspaces(products: list[Op], number: Callable[[str], int]) -> int:
    grouped, of_pytorch = any(op.select for op in products), any(map(_is_of_pytorch, products))
    linears = 1 + number("grouped_linear_streams") * grouped
    return number("linear_workspace") * linears + number("cublas_workspace") * of_pytorch


def _is_of_pytorch(op: Op) -> bool:
    roles = [param.weight_role for param in matrices(op)]
    return any(role in OF_PYTORCH or role.gives_scores or role.is_table for role in roles)
