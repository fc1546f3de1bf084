"""Shared by Qwen 2, 3 and 3.5: sliding windows in later blocks, the choice of MoE blocks, Gated DeltaNet."""

from __future__ import annotations

from archcalc.importers.hf._helpers import Config, Fields, activation, decoder, ffn, head_dim, rope, top, where_used
from archcalc.importers.hf._helpers.layer_types import LINEAR, every, layer_types, mixers, paired, sliding, sliding_from
from archcalc.importers.hf._helpers.moe import sparse_where

_OF_EXPERTS = ("moe_intermediate_size", "shared_expert_intermediate_size", "num_experts_per_tok")


def qwen_windows(c: Config) -> Fields:
    """Sliding windows from block max_window_layers on, if switched on."""
    window = c.choose("use_sliding_window", c.given("sliding_window"), None)
    usual = sliding_from(c, c.get("max_window_layers"), slides=window is not None)
    return sliding(c, layer_types(c, usual), window)


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


def delta_decoder(c: Config, parts: list[str], moe: Fields | None = None) -> Fields:
    """Gated DeltaNet and gated attention, each followed by one of `parts`: `ffn` or `moe`."""
    found = mixers(c, every(c, c.given("full_attention_interval") or 4, other=LINEAR), "delta")
    gated = {"bias": c.flag("attention_bias"), "qk_norm": "head", "gate": True}
    fields = decoder(
        c,
        **where_used(parts, ffn=lambda: ffn(c), moe=lambda: moe),
        **where_used(found, attention=lambda: gated, delta=lambda: _delta(c)),
        position=where_used(found, attention=lambda: rope(c, head_dim(c)))["attention"],
        decoder=paired(found, parts),
    )
    c.skip("attention_bias", "max_position_embeddings", "rope_parameters")
    c.skip(*(key for key in c.said if key.startswith("linear_")))
    return fields


def _delta(c: Config) -> Fields:
    return {
        "heads": c.size("linear_num_key_heads"),
        "v_heads": c.size("linear_num_value_heads"),
        "head_dim": c.size("linear_key_head_dim"),
        "v_dim": c.size("linear_value_head_dim"),
        "conv": c.size("linear_conv_kernel_dim"),
    }
