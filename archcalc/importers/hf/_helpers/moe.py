"""Shared by mixture-of-experts translators: the experts, and which blocks have them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from archcalc.importers.hf._helpers.blocks import ffn, top, where_used
from archcalc.importers.hf._helpers.reading import Config, Fields, when
from archcalc.importers.hf._helpers.words import activation

_PARTS = {"dense": "ffn", "sparse": "moe"}
EACH = "moe_intermediate_size"  # how wide an expert is
_KEYS = (
    *("intermediate_size", "moe_intermediate_size", "shared_expert_intermediate_size", "num_experts_per_tok"),
    *("num_experts", "n_routed_experts", "num_shared_experts", "n_shared_experts"),
)


def mixture(
    c: Config, experts: int, width: int, *, shared: int = 0, shared_bias: bool = False, per_token: str = "", **more: Any
) -> Fields:
    """`experts` routed experts of width `width`, and a shared expert of width `shared`."""
    act = activation(c)
    fields: Fields = {"experts": experts, "top": top(c, experts, per_token or "num_experts_per_tok"), "width": width}
    more |= when(shared_bias and not shared, out_bias=True)  # of a shared expert that is there, and 0 wide
    always = {"width": shared, "act": act, **when(shared_bias, bias=True)}
    return {**fields, "act": act, **more, **when(shared, shared=always)}


def experts(
    c: Config,
    number: str,
    width: str = "moe_intermediate_size",
    *,
    shared: str = "",
    shared_width: str = "",
    **more: Any,
) -> Fields:
    """A mixture by the keys of its sizes; `shared` counts experts that every token passes, `shared_width` is how wide
    one such expert is."""
    routed, wide = c.size(number), c.size(width)
    always = 0
    if shared:
        always = c.count(shared) * wide
    if shared_width:
        always = c.count(shared_width)
    return mixture(c, routed, wide, shared=always, **more)


def sparse_where(c: Config, is_sparse: Callable[[int], Any], blocks: int = 0) -> list[str]:
    """Experts in the blocks that a rule names by their number, an FFN in all others."""
    parts = {False: "ffn", True: "moe"}
    return [parts[bool(is_sparse(block))] for block in range(blocks or c.size("num_hidden_layers"))]


def first_dense(c: Config, key: str = "first_k_dense_replace") -> list[str]:
    """Dense blocks first, if the class has such, then MoE in all others."""
    dense = c.count(key) if key in c.declared else 0
    return sparse_where(c, lambda block: block >= dense)


def one_dense_first(c: Config) -> list[str]:
    """One dense block, then MoE in all others."""
    return ["ffn"] + ["moe"] * (c.size("num_hidden_layers") - 1)


def all_sparse(c: Config) -> list[str]:
    return ["moe"] * c.size("num_hidden_layers")


def listed(c: Config, otherwise: list[str]) -> list[str]:
    """`mlp_layer_types` of the file (dense or sparse for each block), or the class default from other fields."""
    said, blocks = c.words("mlp_layer_types"), c.size("num_hidden_layers")
    if said is None:
        return otherwise
    if len(said) != blocks or not set(said) <= set(_PARTS):
        raise c.refused("mlp_layer_types", f"it must be a list of dense or sparse for each of {blocks} blocks")
    return [_PARTS[word] for word in said]


def used(c: Config, parts: list[str], experts: Any, dense: Any = None) -> Fields:
    """`ffn` and `moe`, each only if a block has one; `dense` and `experts` build them."""
    fields = where_used(parts, ffn=dense or (lambda: ffn(c)), moe=experts)
    c.skip("hidden_act", *(key for key in _KEYS if c.named(key) in c.declared))
    return fields
