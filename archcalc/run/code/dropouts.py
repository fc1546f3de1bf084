"""Dropout where a library's classes have it, at the rates of their configs; a spec knows one rate for most places."""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.ir import Module, ModuleGroup, Op, Param, Region, Tensor, walk
from archcalc.core.roles import Role
from archcalc.core.tree import given_out, ops_in
from archcalc.run.code.facts import Facts

DROPOUT, NONE = "dropout", "seen"
BEHIND = {Role.ATTENTION_OUT: "attention", Role.CROSS_OUT: "cross", Role.FFN_DOWN: "ffn"}  # a branch's last matrix


def put_in_place(root: Module, facts: Facts) -> None:
    """Take out what the spec has, and add what the class has."""
    for module, _ in walk(root):
        module.body[:] = [_without(item) for item in module.body]
    for module, _ in walk(root):
        module.body[:] = [new for item in module.body for new in _with(item, module, facts)]
    for stack in root.children:
        place = {ModuleGroup.EMBEDDING: "embedding", ModuleGroup.BLOCKS: "final"}.get(stack.group or ModuleGroup.HEAD)
        given = given_out(stack)
        if place and given and facts.rate(place):
            stack.body.append(_behind(stack, given))


def _without(item: Op | Module) -> Op | Module:
    return replace(item, kind=NONE, beside={}) if isinstance(item, Op) and item.kind == DROPOUT else item


def _with(item: Op | Module, module: Module, facts: Facts) -> list[Op | Module]:
    if isinstance(item, Module):
        last = _last_matrix(item) if module.region == Region.BLOCK else None
        rate = facts.rate(BEHIND.get(role_of(last), "")) if last else 0
        return [item, _behind(item, last.output)] if last and rate else [item]
    if module.region == Region.CORE:
        return [*dropped(item)] if item.traits.softmax and facts.rate("weights") else [item]
    return [*_inside(item)] if role_of(item) is Role.FFN_DOWN and facts.rate("inside") else [item]


def _last_matrix(branch: Module) -> Op | None:
    return next((op for op in reversed(list(ops_in(branch))) if role_of(op) in BEHIND), None)


def role_of(op: Op) -> Role:
    """What the matrix does that it multiplies by."""
    matrices = (one for one in op.inputs if isinstance(one, Param) and len(one.axes) > 1)
    return next((one.weight_role for one in matrices), Role.OTHER)


def _inside(down: Op) -> list[Op]:
    """Dropout on what a feed-forward layer's last matrix reads."""
    x, *weights = down.inputs
    hidden = Tensor(x.axes, x.role)
    return [dropout(x, hidden), replace(down, inputs=(hidden, *weights))]


def _behind(module: Module, given: Tensor) -> Op:
    """Dropout on what a module gives out: its last op makes another tensor, of which dropout makes this one."""
    made = Tensor(given.axes, given.role)
    for owner, _ in walk(module):
        owner.body[:] = [_making(item, given, made) for item in owner.body]
    return dropout(made, given)


def _making(item: Op | Module, given: Tensor, made: Tensor) -> Op | Module:
    return replace(item, output=made) if isinstance(item, Op) and item.output is given else item


def dropped(op: Op) -> list[Op]:
    """An op, and dropout on what it makes."""
    made = Tensor(op.output.axes, op.output.role)
    return [replace(op, output=made), dropout(made, op.output)]


def dropout(x: Tensor, into: Tensor) -> Op:
    return Op(DROPOUT, (x,), into, beside={"mask": Tensor(x.axes, "mask")})
