"""What kind of part a module or an op is, from the roles of its weights, its region, its group and its ops."""

from __future__ import annotations

from collections.abc import Collection

from archcalc.analyze.diagram.graph import PartKind
from archcalc.core.ir import Module, ModuleGroup, Op, Param, Region
from archcalc.core.op_pictures import PICTURES
from archcalc.core.roles import ATTENTION, DENSE, SHARED, TABLES, Role
from archcalc.core.tree import enclosing

_EXPERTS = {
    *(Role.EXPERT_GATE, Role.EXPERT_UP, Role.EXPERT_DOWN, Role.ROUTER, Role.LATENT_IN, Role.LATENT_OUT),
    *(Role.SHARED_SCALE, Role.EXPERT_Q, Role.EXPERT_OUT),
    *SHARED,
}
_STATE_SPACE = {
    *(Role.MAMBA_IN, Role.MAMBA_SELECT, Role.MAMBA_DT, Role.MAMBA_OUT, Role.STATE, Role.HEADWISE),
    *(Role.DELTA_IN, Role.DELTA_RATES, Role.DELTA_GATES, Role.DELTA_OUT),
}
BY_ROLE: dict[Role, PartKind] = {
    **dict.fromkeys((*TABLES, Role.VECTORS), PartKind.EMBEDDING),
    **dict.fromkeys(ATTENTION, PartKind.ATTENTION),
    **dict.fromkeys(DENSE, PartKind.FEED_FORWARD),
    **dict.fromkeys(_EXPERTS, PartKind.EXPERTS),
    **dict.fromkeys(_STATE_SPACE, PartKind.STATE_SPACE),
    **dict.fromkeys((Role.HEAD, Role.CLASSIFIER), PartKind.HEAD),
    **dict.fromkeys((Role.LINEAR, Role.CELL, Role.ADAPTER, Role.STORED, Role.FURTHER_TOKENS), PartKind.LINEAR),
    Role.NORM: PartKind.NORM,
    Role.CONVOLUTION: PartKind.CONVOLUTION,
    Role.RECURRENT: PartKind.RECURRENT,
}
_BY_GROUP = {ModuleGroup.EMBEDDING: PartKind.EMBEDDING, ModuleGroup.HEAD: PartKind.HEAD}
_BY_PART = {"norm": PartKind.NORM, "activation": PartKind.ACTIVATION, "pooling": PartKind.POOLING}
# Kinds that stand for a module only where nothing weightier is in it, the weightiest first.
_MINOR = (PartKind.LINEAR, PartKind.POOLING, PartKind.NORM, PartKind.ACTIVATION, PartKind.OTHER)
# What belongs to a layer of another kind where both are in it: the short convolutions of Mamba, pools between layers.
_ABSORBED = {PartKind.CONVOLUTION: {PartKind.STATE_SPACE, PartKind.ATTENTION}}


def of_op(op: Op, module: Module) -> PartKind:
    """By the group of its module, then by its weights, then by what kind of op it is."""
    if module.group in _BY_GROUP:
        return _BY_GROUP[module.group]
    by_weights = [BY_ROLE[tensor.weight_role] for tensor in weights(op) if tensor.weight_role in BY_ROLE]
    if by_weights:
        return by_weights[0]
    if part := PICTURES[op.kind].part:
        return _BY_PART[part]
    # Inside attention's core, or a softmax that weighs positions and not experts.
    chooses = any(param.weight_role == Role.ROUTER for param in module.params.values())
    if enclosing(module, Region.CORE) or (op.traits.softmax and not chooses):
        return PartKind.ATTENTION
    if bool(op.over) and any(window.step > 1 for window in op.windows):
        return PartKind.POOLING
    return PartKind.OTHER


def of_weight(role: Role, group: ModuleGroup | None) -> PartKind:
    """Of a weight, by its role and the end of the model that it belongs to."""
    return _BY_GROUP[group] if group in _BY_GROUP else BY_ROLE.get(role, PartKind.OTHER)


def weights(op: Op) -> list[Param]:
    """The parameters that it reads, seen along whatever axes."""
    return [tensor.storage for tensor in op.inputs if isinstance(tensor.storage, Param)]


def of_module(module: Module, parts: Collection[PartKind]) -> PartKind:
    """The kind of a module with parts of these kinds; linear layers with gates, run step by step, are a cell."""
    kind = of_parts(set(parts))
    gated = kind == PartKind.LINEAR and PartKind.ACTIVATION in parts
    return PartKind.RECURRENT if gated and enclosing(module, Region.STEP) else kind


def of_parts(found: set[PartKind]) -> PartKind:
    """The kind of what has parts of these kinds."""
    minor = [kind for kind in _MINOR if kind in found]
    major = found - set(_MINOR)
    major = {kind for kind in major if not _ABSORBED.get(kind, set()) & major}
    if len(major) > 1:
        return PartKind.STACK
    return major.pop() if major else (minor or [PartKind.OTHER])[0]
