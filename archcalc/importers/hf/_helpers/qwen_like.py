"""Shared by Qwen 2, 3 and 3.5: experts, and the choice of MoE blocks."""

from __future__ import annotations

from archcalc.importers.hf._helpers import Config, Fields, activation, ffn, top, where_used
from archcalc.importers.hf._helpers.moe import sparse_where

_OF_EXPERTS = ("moe_intermediate_size", "shared_expert_intermediate_size", "num_experts_per_tok")


def plain_experts(c: Config) -> Fields:
    number, width = c.count("num_experts"), c.size("moe_intermediate_size")
    return {"experts": number, "top": top(c, number), "width": width, "act": activation(c)}


def gated_experts(c: Config) -> Fields:
    """Routed experts, and a shared expert with a scalar gate."""
    experts, shared = plain_experts(c), c.count("shared_expert_intermediate_size")
    return {**experts, "shared": {"width": shared, "act": activation(c)}, "shared_gate": True}


def sparse_parts(c: Config, experts: int) -> list[str]:
    """MoE in every `decoder_sparse_step`-th block, except in `mlp_only_layers`."""
    step, dense = c.size("decoder_sparse_step"), c.get("mlp_only_layers") or []
    return sparse_where(c, lambda block: block not in dense and experts > 0 and (block + 1) % step == 0)


def dense_and_sparse(c: Config, parts: list[str], moe: Fields) -> Fields:
    """The FFN and the MoE, each only if a block has it."""
    fields = where_used(parts, ffn=lambda: ffn(c), moe=lambda: moe)
    c.skip("intermediate_size", "hidden_act", *_OF_EXPERTS)
    return fields
