"""Linear layers that read the same, made by one matrix: their outputs are views of its result, which lives as long as
any of them: queries, keys and values, or gate and up of a feed-forward layer.

The matrix is one parameter: it has one gradient and one set of optimizer states, and peft adapts it as a whole.
"""

from __future__ import annotations

from archcalc.core.ir import Module, Op, Tensor, walk
from archcalc.core.roles import Role
from archcalc.layers.linear import linear
from archcalc.run.code.merged import Linear, joined_width, linears, role_of

MADE_TOGETHER = {  # the name of the matrix, and what it does
    "qkv": ((Role.ATTENTION_Q, Role.ATTENTION_K, Role.ATTENTION_V), Role.ATTENTION_QKV),
    "gate_up": ((Role.FFN_GATE, Role.FFN_UP), Role.FFN_GATE_UP),
}


def split_projections(root: Module) -> None:
    """In every self-attention. Source: transformers, GPT2Attention.forward: one Conv1D, and a split of its result."""
    _join_all(root, "qkv", [])


def split_heads(root: Module) -> None:
    """The same, head by head. Source: transformers, GPTNeoXAttention.forward: the result is seen by head, and each head
    split; its gradient comes by head, and is copied to lie by position."""
    _join_all(root, "qkv", ["transpose"])


def split_gates(root: Module) -> None:
    """In every gated layer. Source: transformers, Phi3MLP.forward: one linear layer, and two chunks of its result."""
    _join_all(root, "gate_up", [])


WAYS = {"split": split_projections, "split_heads": split_heads}  # the habit `qkv`


def _join_all(root: Module, name: str, seen: list[str]) -> None:
    roles, role = MADE_TOGETHER[name]
    for module, _ in list(walk(root)):
        found = [one for child in module.children for one in linears(child) if role_of(one.op) in roles]
        if len(found) == len(roles) and len({one.op.inputs[0] for one in found}) == 1:
            _join(module, name, found, role, seen)


def _join(owner: Module, name: str, several: list[Linear], role: Role, seen: list[str]) -> None:
    """One linear layer in the place of several, and the parts of what it makes."""
    place = owner.body.index(several[0].module)
    (x, *_), has_bias = several[0].op.inputs, bool(several[0].biases)
    for one in several:
        owner.drop(one.module)
    joint = owner.child(name)
    joint.stands_for = tuple(one.module.name for one in several)
    whole = linear(joint, x, joined_width(name, [one.output.axes[-1] for one in several]), bias=has_bias, role=role)
    owner.body.remove(joint)
    owner.body[place:place] = [joint, *_parts(whole, several, seen)]


def _parts(whole: Tensor, several: list[Linear], seen: list[str]) -> list[Op]:
    """All of it perhaps seen in another order, then its parts."""
    first, *others = (one.output for one in several)
    views = [Op(kind, (whole,), Tensor(whole.axes, whole.role)) for kind in seen]
    whole = views[-1].output if views else whole
    beside = {one.module.name: other for one, other in zip(several[1:], others, strict=True)}
    return [*views, Op("split", (whole,), first, beside=beside)]
