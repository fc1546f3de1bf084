"""Linear layers that read the same and are one matrix in a library: queries, keys and values; gate and up.

The product gives one tensor. Queries, keys and values are copied out of it: rotations write their own, and an attention
kernel wants values that lie side by side. Source: Megatron-LM, SelfAttention.get_query_key_value_tensors and
MLP.linear_fc1; Transformer Engine, dot_product_attention/backends.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from archcalc.core.count import Count, product
from archcalc.core.ir import Axis, Dim, Module, Op, Param, Tensor, walk
from archcalc.core.mesh import Plan
from archcalc.core.roles import Role
from archcalc.core.splits import Piece, Split

TOGETHER = (
    (Role.ATTENTION_Q, Role.ATTENTION_K, Role.ATTENTION_V),
    (Role.CROSS_K, Role.CROSS_V),
    (Role.FFN_GATE, Role.FFN_UP),
    (Role.SHARED_GATE, Role.SHARED_UP),
    (Role.EXPERT_GATE, Role.EXPERT_UP),
)


class Linear(NamedTuple):
    """A module that is a matrix product, perhaps with a bias, and nothing else."""

    module: Module
    op: Op
    output: Tensor  # with the bias
    biases: tuple[Param, ...]


def merge(root: Module, plan: Plan) -> None:
    for module in [module for module, _ in walk(root)]:
        for roles in TOGETHER:
            found = [one for child in module.children for one in linears(child) if role_of(one.op) in roles]
            alike = [one for one in found if one.op.inputs[0] is found[0].op.inputs[0]]
            if len(alike) > 1 and all(_pieces(one.output.axes[-1]) for one in alike):
                _merge(module, alike)


def linears(module: Module) -> Iterator[Linear]:
    """The layer itself, if the module is one."""
    op, *rest = module.body or (None,)
    if not isinstance(op, Op) or not op.traits.contraction or not role_of(op):
        return
    if not rest:
        yield Linear(module, op, op.output, ())
    elif len(rest) == 1 and isinstance(rest[0], Op) and rest[0].traits.joins_product:
        biases = tuple(tensor for tensor in rest[0].inputs if isinstance(tensor, Param))
        yield Linear(module, op, rest[0].output, biases)


def role_of(op: Op) -> Role | None:
    return next((tensor.weight_role for tensor in op.inputs if isinstance(tensor, Param)), None)


def _merge(module: Module, alike: list[Linear]) -> None:
    """One product in the place of the first, and its parts behind it."""
    first, *others = alike
    x, *_ = first.op.inputs
    weights = (tensor for one in alike for tensor in one.op.inputs[1:])
    biases = (bias for one in alike for bias in one.biases)
    width = joined_width("packed", [one.output.axes[-1] for one in alike])
    joint = Tensor((*first.output.axes[:-1], (width,)), first.output.role)
    first.module.body[:] = [replace(first.op, inputs=(x, *weights, *biases), output=joint)]
    for one in others:
        one.module.body.clear()
    parts = {one.module.name: one.output for one in others}
    module.body.insert(module.body.index(first.module) + 1, Op("unpack", (joint,), first.output, beside=parts))


def joined_width(name: str, axes: list[Axis]) -> Dim:
    """All of them behind each other, each divided over GPUs as it is."""
    size = sum(int(product(dim.size for dim in axis)) for axis in axes)
    pieces = tuple(piece for axis in axes for piece in _pieces(axis))
    return Dim(name, Count(size), split=Split(pieces) if pieces else None)


def _pieces(axis: Axis) -> tuple[Piece, ...]:
    """How tensor parallelism divides an axis; nothing where it does not."""
    split = next((dim for dim in axis if dim.split), None)
    if not split or not split.split:
        return ()
    width = int(product(dim.size for dim in axis)) // int(split.size)
    return tuple(replace(piece, width=int(piece.width) * width) for piece in split.split.of(split.size))
