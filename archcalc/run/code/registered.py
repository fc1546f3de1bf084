"""The order in which a library's modules list their layers: an optimizer goes through parameters in this order.

What a module registers stands there in the order of its `__init__`, whatever the order of computation is.
"""

from __future__ import annotations

from collections.abc import Callable

from archcalc.core.ir import Module, ModuleGroup, Param, Region
from archcalc.core.roles import Role

Order = Callable[[Module], list[Module]]  # the children of a module


def in_order(module: Module, order: Order, copies: int | None = None) -> list[Param]:
    """Every parameter: a module's own, then those of its layers; of equal layers all, or `copies` at the most."""
    inside = [param for child in order(module) for param in in_order(child, order, copies)]
    once = [*module.params.values(), *inside]
    repeat = int(module.repeat) if once else 0
    return once * (repeat if copies is None else min(repeat, copies))


def running(module: Module) -> list[Module]:
    return list(module.children)


def norms_last(module: Module) -> list[Module]:
    """Source: transformers, LlamaDecoderLayer.__init__."""
    return sorted(module.children, key=_is_norm)


def experts_first(module: Module) -> list[Module]:
    """Source: transformers, Qwen3MoeSparseMoeBlock.__init__."""
    if module.region == Region.MIXTURE:
        return sorted(module.children, key=lambda child: child.region != Region.EXPERTS)
    return norms_last(module)


def norms_first(module: Module) -> list[Module]:
    """Source: transformers, GPTNeoXLayer.__init__."""
    children = running(module)
    return sorted(children, key=lambda child: not _is_norm(child)) if module.region == Region.BLOCK else children


def norms_behind(module: Module) -> list[Module]:
    """Source: transformers, T5LayerSelfAttention.__init__."""
    children = running(module)
    if module.region == Region.BLOCK:
        for place, child in enumerate(children[:-1]):
            if _is_norm(child) and not _is_norm(children[place + 1]):
                children[place : place + 2] = [children[place + 1], child]
    return children


def of_vit(module: Module) -> list[Module]:
    """Source: transformers, ViTLayer.__init__; ViTEmbeddings.__init__, with vectors in front of the convolution."""
    children = running(module)
    if module.region == Region.BLOCK:
        attention = [child for child in children if any(inner.region == Region.CORE for inner in child.children)]
        return sorted(children, key=lambda child: (child not in attention, not _is_norm(child)))
    return sorted(children, key=lambda child: module.group == ModuleGroup.EMBEDDING and _has(child, Role.CONVOLUTION))


def of_bert(module: Module) -> list[Module]:
    """Source: transformers, BertEmbeddings.__init__: types behind positions."""
    if module.group != ModuleGroup.EMBEDDING:
        return running(module)
    return sorted(module.children, key=lambda child: (_is_norm(child), _has(child, Role.TYPE_TABLE)))


ORDERS: dict[str, Order] = {  # by the habit `registered`
    "running": running,
    "norms_last": norms_last,
    "norms_first": norms_first,
    "norms_behind": norms_behind,
    "experts_first": experts_first,
    "bert": of_bert,
    "vit": of_vit,
}


def _is_norm(module: Module) -> bool:
    params = module.params.values()
    return bool(params) and all(param.weight_role is Role.NORM for param in params)


def _has(module: Module, role: Role) -> bool:
    return any(param.weight_role is role for param in module.params.values())
