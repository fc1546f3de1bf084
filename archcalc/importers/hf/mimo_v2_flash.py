"""MiMo-V2-Flash: local blocks with sinks and twice the key-value heads, values of a width of their own, experts."""

from __future__ import annotations

from archcalc.importers.hf._helpers.attention_kinds import attentions
from archcalc.importers.hf._helpers.blocks import Fields, biased, decoder, head_dim, kv_heads, layer_types, window
from archcalc.importers.hf._helpers.moe import listed, mixture, used
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import rope

TYPES = ("mimo_v2_flash",)
USUAL = "causal"
INERT = (
    "routed_scaling_factor n_group topk_group norm_topk_prob attention_value_scale sliding_window sliding_window_size"
)


def translate(c: Config, task: str) -> Fields:
    blocks = c.size("num_hidden_layers")
    parts = listed(c, ["ffn"] + ["moe"] * (blocks - 1))
    attention: Fields = {"bias": biased(qkv=c.flag("attention_bias")), "v_dim": c.size("v_head_dim")}
    return decoder(
        c,
        task,
        attention=attention,
        **used(c, parts, lambda: _experts(c)),
        position=rope(c, head_dim(c), layer="full_attention", theta=5_000_000.0, fraction=0.334),
        **attentions(_kinds(c), parts),
    )


def _experts(c: Config) -> Fields:
    return mixture(c, c.size("n_routed_experts"), c.size("moe_intermediate_size"), correction=True)


def _kinds(c: Config) -> list[Fields]:
    blocks = range(c.size("num_hidden_layers"))
    usual = ["full_attention" if block == 0 or (block + 1) % 6 == 0 else "sliding_attention" for block in blocks]
    layers = layer_types(c, usual)
    if not set(layers) <= {"full_attention", "sliding_attention"}:
        raise c.refused("layer_types")
    wide = c.given("sliding_window_size")
    local = {
        "kv_heads": 2 * kv_heads(c),
        **({"window": wide + 1} if wide is not None else window(c)),
        "sinks": True,
        "position": rope(c, head_dim(c), layer="sliding_attention", theta=10_000.0, fraction=0.334),
    }
    return [local if layer == "sliding_attention" else {} for layer in layers]
