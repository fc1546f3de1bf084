"""Laguna: MoE with gated attention outputs, head counts that vary by block, a router with frozen correction biases."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, head_dim, inert, kv_heads, rope, when, window
from archcalc.importers.hf._helpers.layer_types import FULL, SLIDING, attentions, full, layer_types
from archcalc.importers.hf._helpers.moe import experts, listed, one_dense_first, used

INERT = {inert.NOT_HERE: "sliding_window"}
_SHARED = "shared_expert_intermediate_size"


def translate(c: Config) -> Fields:
    parts = listed(c, one_dense_first(c))
    gate = {True: "head", False: "own"}[c.get("gating") in (True, "per-head")]  # one for each head, or each channel
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "head", "gate": gate},
        **used(c, parts, lambda: experts(c, "num_experts", shared_width=_SHARED, correction="frozen")),
        position=rope(c, head_dim(c), layer=FULL),
        **attentions(_kinds(c), parts),
    )


def _kinds(c: Config) -> list[Fields]:
    """Sliding-window blocks rotate whole heads with their own RoPE base; head counts may differ by block."""
    local: Fields = {**window(c), "position": rope(c, head_dim(c), layer=SLIDING)}
    layers, usual = layer_types(c, full(c)), c.size("num_attention_heads")
    rest = {"kv_heads": kv_heads(c), "head_dim": head_dim(c)}
    numbers = c.get("num_attention_heads_per_layer") or [usual] * len(layers)
    own = [when(number != usual, heads=number, **rest) for number in numbers]
    return [{**when(layer == SLIDING, **local), **more} for layer, more in zip(layers, own, strict=True)]
