"""Buffers that a training library keeps for itself from the first step on.

Transformer Engine hands autograd an unused tensor where the gradient of a matrix was added to the one that is there:
one for each shape, which stays (pytorch/module/base.py, get_dummy_wgrad). Its products have a workspace, grouped ones
of experts one more for each stream; head and router are products of PyTorch, with a workspace of their own. Under
sequence parallelism the head gathers its input into a buffer (Megatron-LM, megatron/core/tensor_parallel/layers.py).
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from archcalc.core.ir import Module, Op, Param, Tensor
from archcalc.core.mesh import Plan
from archcalc.core.precision import BYTES, Policy
from archcalc.core.roles import Role
from archcalc.core.tensors import whole
from archcalc.core.tree import ops_in

if TYPE_CHECKING:
    from archcalc.run.resolved import Run

OF_PYTORCH = frozenset({Role.ROUTER, Role.SHARED_SCALE})  # products whose gradients are made and then added


def buffers(root: Module, run: Run) -> int:
    """Bytes on one GPU."""
    if run.code.habits.dummies != "by_shape":
        return 0
    products = [op for op in ops_in(root) if op.traits.contraction and _matrices(op)]
    return _dummies(products, run) + _workspaces(products, run) + _gathered(products, run)


def is_fused(op: Op, param: Param) -> bool:
    """Whether a product adds the gradient of its matrix to the one that is there."""
    return op.traits.contraction and param in _matrices(op) and param.weight_role not in OF_PYTORCH


def _dummies(products: list[Op], run: Run) -> int:
    shapes = {_shape(op, run.plan) for op in products if all(is_fused(op, param) for param in _matrices(op))}
    assert run.recipe
    return sum(rows * columns for rows, columns in shapes) * BYTES[run.recipe.weights]


def _shape(op: Op, plan: Plan) -> tuple[int, int]:
    """Rows and columns on one GPU, of one expert; matrices that are one product lie above each other."""
    columns = prod(plan.part(dim) for dim in op.over)
    one = [plan.size(param) // prod(plan.part(dim) for dim in op.select) for param in _matrices(op)]
    return sum(one) // columns, columns


def _workspaces(products: list[Op], run: Run) -> int:
    number = run.code.number
    grouped, of_pytorch = any(op.select for op in products), any(map(_is_of_pytorch, products))
    linears = 1 + number("grouped_linear_streams") * grouped
    return number("linear_workspace") * linears + number("cublas_workspace") * of_pytorch


def _is_of_pytorch(op: Op) -> bool:
    roles = [param.weight_role for param in _matrices(op)]
    return any(role in OF_PYTORCH or role.gives_scores or role.is_table for role in roles)


def _gathered(products: list[Op], run: Run) -> int:
    """What the head gathers is as large for each of several heads, which share the buffer."""
    width = Policy(run.activations).bytes_of("act")
    inputs: list[Tensor] = [op.inputs[0] for op in products if op.traits.into_buffer]
    return max((run.plan.size(whole(x)) * width for x in inputs), default=0)


def _matrices(op: Op) -> list[Param]:
    matrices = (tensor for tensor in op.inputs if isinstance(tensor, Param))
    return [one for one in matrices if one.weight_role.is_linear or one.weight_role.is_table]
