"""Qwen3-Next and Qwen 3.5: Gated DeltaNet in three of four blocks, gated attention in the fourth; dense or MoE."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, ffn, head_dim, inert, qwen_like, rope, where_used
from archcalc.importers.hf._helpers.layer_types import LINEAR, every, mixers, paired
from archcalc.importers.hf._helpers.moe import all_sparse

TYPES: dict[str, Fields] = {
    "qwen3_5_moe_text": {"routes": True},
    "qwen3_5_text": {"routes": False},
    "qwen3_next": {"routes": True, "in_all": False},
}
INERT = {inert.USUAL_LAYERS: "full_attention_interval"}


def translate(c: Config, *, routes: bool, in_all: bool = True) -> Fields:
    """`routes`: there are experts, in all blocks or in those that the file says."""
    parts, moe = ["ffn"] * c.size("num_hidden_layers"), qwen_like.gated_experts(c) if routes else None
    if moe:
        parts = all_sparse(c) if in_all else qwen_like.sparse_parts(c, moe["experts"])
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
