"""Queries, keys and values made by one matrix: they are views of its result, which lives as long as any of them.

The matrix is one parameter: it has one gradient and one set of optimizer states, and peft adapts it as a whole.
"""

from __future__ import annotations

from archcalc.core.ir import Dim, Module, Op, Region, Tensor, walk
from archcalc.core.roles import Role
from archcalc.core.splits import Piece, Split
from archcalc.layers.linear import linear
from archcalc.run.code.merged import Linear, linears, role_of

NAME = "qkv"
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
    for module, _ in list(walk(root)):
        if any(child.region == Region.CORE for child in module.children):
            three = [one for child in module.children for one in linears(child) if role_of(one.op) in MADE_TOGETHER]
            if len(three) == len(MADE_TOGETHER):
                _join(module, three, seen)


def _join(attention: Module, three: list[Linear], seen: list[str]) -> None:
    """One linear layer in the place of three, and the parts of what it makes."""
    place = attention.body.index(three[0].module)
    (x, *_), has_bias = three[0].op.inputs, bool(three[0].biases)
    for one in three:
        attention.drop(one.module)
    joint = attention.child(NAME)
    joint.stands_for = tuple(one.module.name for one in three)
    whole = linear(joint, x, _width(three), bias=has_bias, role=Role.ATTENTION_QKV)
    attention.body.remove(joint)
    attention.body[place:place] = [joint, *_parts(whole, three, seen)]


def _parts(whole: Tensor, three: list[Linear], seen: list[str]) -> list[Op]:
    """All of it perhaps seen in another order, then queries, keys and values."""
    query, key, value = (one.output for one in three)
    views = [Op(kind, (whole,), Tensor(whole.axes, whole.role)) for kind in seen]
    whole = views[-1].output if views else whole
    return [*views, Op("split", (whole,), query, beside={"keys": key, "values": value})]


def _width(three: list[Linear]) -> Dim:
    """All three behind each other, each divided over GPUs by heads."""
    pieces = [Piece(int(head.size), int(width.size)) for head, width in (one.output.axes[-1] for one in three)]
    return Dim.of(NAME, sum(piece.size for piece in pieces), split=Split(tuple(pieces)))
