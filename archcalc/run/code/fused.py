"""Queries, keys and values made by one matrix: they are views of its result, which lives as long as any of them."""

from __future__ import annotations

from archcalc.core.ir import Dim, Module, Op, Param, Region, Tensor, axes, walk
from archcalc.core.roles import Role
from archcalc.core.splits import Piece, Split

MADE_TOGETHER = (Role.ATTENTION_Q, Role.ATTENTION_K, Role.ATTENTION_V)


def split_projections(root: Module) -> None:
    """In every self-attention. Source: transformers, GPT2Attention.forward: one Conv1D, and a split of its result."""
    _join_all(root, [])


def split_heads(root: Module) -> None:
    """The same, head by head. Source: transformers, GPTNeoXAttention.forward: the result is seen by head, and each head
    split; its gradient comes by head, and is copied to lie by position."""
    _join_all(root, ["transpose"])


WAYS = {"split": split_projections, "split_heads": split_heads}  # the habit `qkv`


def _join_all(root: Module, seen: list[str]) -> None:
    for module, _ in walk(root):
        if any(child.region == Region.CORE for child in module.children):
            _join(module, seen)


def _join(attention: Module, seen: list[str]) -> None:
    made = {_role(op): (child, op) for child in attention.children for op in child.ops if _role(op) in MADE_TOGETHER}
    if len(made) < len(MADE_TOGETHER):
        return
    first, *_ = (child for child, _ in made.values())
    place = attention.body.index(first)
    for child, op in made.values():
        child.body.remove(op)
        attention.body.remove(child)
    attention.body[place:place] = _together([op for _, op in made.values()], seen)


def _role(op: Op) -> Role | None:
    return next((one.weight_role for one in op.inputs if isinstance(one, Param) and len(one.axes) > 1), None)


def _together(ops: list[Op], seen: list[str]) -> list[Op]:
    """One product, perhaps seen in another order, and its three parts."""
    query, key, value = ops
    whole = Tensor(axes(*query.output.axes[:-1], _width(ops)), query.output.role)
    parameters = [tensor for op in ops for tensor in op.inputs[1:]]
    product = Op("affine", (query.inputs[0], *parameters), whole, query.over)
    views = [Op(kind, (whole,), Tensor(whole.axes, whole.role)) for kind in seen]
    whole = views[-1].output if views else whole
    return [product, *views, Op("split", (whole,), query.output, beside={"keys": key.output, "values": value.output})]


def _width(ops: list[Op]) -> Dim:
    """All three behind each other, each divided over GPUs by heads."""
    pieces = [Piece(int(head.size), int(width.size)) for head, width in (op.output.axes[-1] for op in ops)]
    return Dim.of("qkv", sum(piece.size for piece in pieces), split=Split(tuple(pieces)))
