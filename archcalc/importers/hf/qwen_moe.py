"""Qwen 2, 3 and 3.5 with experts, and those with Gated DeltaNet."""

from functools import partial

from archcalc.importers.hf._helpers import (
    Config,
    Fields,
    activation,
    biased,
    decoder,
    ffn,
    head_dim,
    inert,
    rope,
    top,
    when,
    where_used,
)
from archcalc.importers.hf._helpers.layer_types import LINEAR, every, full_where, layer_types, mixers, paired, sliding
from archcalc.importers.hf._helpers.moe import all_sparse, sparse_where

_OF_EXPERTS = ("moe_intermediate_size", "shared_expert_intermediate_size", "num_experts_per_tok")
INERT = {
    "qwen2_moe": {inert.USUAL_LAYERS: "max_window_layers", inert.NOT_HERE: "use_sliding_window sliding_window"},
    "qwen3_moe": {inert.NOT_HERE: "use_sliding_window sliding_window"},
    "qwen3_next": {inert.USUAL_LAYERS: "full_attention_interval"},
}


def _plain_experts(c: Config) -> Fields:
    number, width = c.count("num_experts"), c.size("moe_intermediate_size")
    return {"experts": number, "top": top(c, number), "width": width, "act": activation(c)}


def _gated_experts(c: Config) -> Fields:
    """Routed experts, and a shared expert with a scalar gate."""
    experts, shared = _plain_experts(c), c.count("shared_expert_intermediate_size")
    return {**experts, "shared": {"width": shared, "act": activation(c)}, "shared_gate": True}


def _sparse_parts(c: Config, experts: int) -> list[str]:
    """MoE in every `decoder_sparse_step`-th block, except in `mlp_only_layers`."""
    step, dense = c.size("decoder_sparse_step"), c.get("mlp_only_layers") or []
    return sparse_where(c, lambda block: block not in dense and experts > 0 and (block + 1) % step == 0)


def _dense_and_sparse(c: Config, parts: list[str], moe: Fields) -> Fields:
    """The FFN and the MoE, each only if a block has it."""
    fields = where_used(parts, ffn=lambda: ffn(c), moe=lambda: moe)
    c.skip("intermediate_size", "hidden_act", *_OF_EXPERTS)
    return fields


def qwen2_moe(c: Config) -> Fields:
    """Qwen 2 MoE: routed experts and a gated shared expert; decoder_sparse_step and mlp_only_layers choose dense
    blocks."""
    moe = _gated_experts(c)
    parts = _sparse_parts(c, moe["experts"])
    slides, last = c.flag("use_sliding_window"), c.get("max_window_layers")
    usual = full_where(c, lambda block: not (slides and block % 2 == 0 and block < last))
    window = c.choose("use_sliding_window", c.given("sliding_window"), None)
    return decoder(
        c,
        attention={"bias": biased(qkv=c.flag("qkv_bias"))},
        **_dense_and_sparse(c, parts, moe),
        **sliding(c, layer_types(c, usual), window, part=parts),
    )


def qwen3_moe(c: Config) -> Fields:
    """Qwen 3 MoE, also inside multimodal models: QK norm; decoder_sparse_step and mlp_only_layers choose
    dense blocks."""
    moe = _plain_experts(c)
    parts = _sparse_parts(c, moe["experts"])
    window = c.choose("use_sliding_window", c.given("sliding_window"), None)
    local = when(window, window=window)
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "head", **local},
        **_dense_and_sparse(c, parts, moe),
        decoder=paired(["attention"] * len(parts), parts),
    )


def qwen3_next(c: Config, *, routes: bool, in_all: bool = True) -> Fields:
    """Qwen3-Next and Qwen 3.5: Gated DeltaNet in three of four blocks, gated attention in the fourth; dense or MoE.

    `routes`: there are experts, in all blocks or in those that the file says."""
    parts, moe = ["ffn"] * c.size("num_hidden_layers"), _gated_experts(c) if routes else None
    if moe:
        parts = all_sparse(c) if in_all else _sparse_parts(c, moe["experts"])
    found = mixers(c, every(c, c.given("full_attention_interval") or 4, other=LINEAR), "delta")
    c.predict_by(f"attention {parts[-1]}" if "attention" in found else None, once=True)  # they always attend
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
    if not in_all:
        c.skip("intermediate_size")
    return fields


def _delta(c: Config) -> Fields:
    return {
        "heads": c.size("linear_num_key_heads"),
        "v_heads": c.size("linear_num_value_heads"),
        "head_dim": c.size("linear_key_head_dim"),
        "v_dim": c.size("linear_value_head_dim"),
        "conv": c.size("linear_conv_kernel_dim"),
    }


TYPES = {
    "qwen3_vl_moe_text": qwen3_moe,
    "qwen3_omni_moe_text": qwen3_moe,
    "qwen3_5_moe_text": partial(qwen3_next, routes=True),
    "qwen3_5_text": partial(qwen3_next, routes=False),
    "qwen3_next": partial(qwen3_next, routes=True, in_all=False),
}
