"""AFMoE and Laguna: gates on what attention finds, windows in most blocks, a router steered by frozen numbers."""

from __future__ import annotations

from archcalc.importers.hf._helpers.attention_kinds import attentions
from archcalc.importers.hf._helpers.blocks import Fields, decoder, every, head_dim, kv_heads, layer_types, window
from archcalc.importers.hf._helpers.moe import first_dense, listed, mixture, used
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import rope

TYPES = ("afmoe", "laguna")
USUAL = "causal"
INERT = (
    "route_scale mup_enabled moe_routed_scaling_factor moe_router_logit_softcapping global_attn_every_n_layers"
    " sliding_window"
)


def translate(c: Config, task: str) -> Fields:
    afmoe, blocks = c.type == "afmoe", c.size("num_hidden_layers")
    parts = first_dense(c, "num_dense_layers") if afmoe else listed(c, ["ffn"] + ["moe"] * (blocks - 1))
    theta, fraction = (c.theta, 1.0) if afmoe else (500_000.0, 0.5)
    return decoder(
        c,
        task,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "head", "gate": _gate(c)},
        **used(c, parts, lambda: _experts(c)),
        norm={"kind": "rms", "place": "sandwich"} if afmoe else "rms",
        position=rope(c, head_dim(c), layer="full_attention", theta=theta, fraction=fraction),
        **attentions(_afmoe(c) if afmoe else _laguna(c), parts),
    )


def _gate(c: Config) -> str:
    """Laguna's is one number for each head, or as wide as they are whatever else the file says."""
    said = "" if c.type == "afmoe" else c.get("gating")
    return "head" if said is True or said == "per-head" else "own"


def _experts(c: Config) -> Fields:
    width, number = c.size("moe_intermediate_size"), c.size("num_experts")
    afmoe = c.type == "afmoe"
    shared = c.count("num_shared_experts") * width if afmoe else c.count("shared_expert_intermediate_size")
    return mixture(c, number, width, shared=shared, correction="frozen")


def _layers(c: Config, usual: list[str]) -> list[str]:
    layers = layer_types(c, usual)
    if not set(layers) <= {"full_attention", "sliding_attention"}:
        raise c.refused("layer_types")
    return layers


def _afmoe(c: Config) -> list[Fields]:
    """Only local blocks have positions."""
    local, free = window(c), {"position": "none"}
    layers = _layers(c, every(c, c.size("global_attn_every_n_layers")))
    return [local if layer == "sliding_attention" else free for layer in layers]


def _laguna(c: Config) -> list[Fields]:
    """Local blocks turn whole heads, by a base of their own; blocks may differ in how many heads they have."""
    blocks = c.size("num_hidden_layers")
    position = rope(c, head_dim(c), layer="sliding_attention", theta=10_000.0, fraction=1.0)
    local: Fields = {**window(c), "position": position}
    heads = c.get("num_attention_heads_per_layer") or [c.size("num_attention_heads")] * blocks
    layers = _layers(c, ["full_attention"] * blocks)
    usual = c.size("num_attention_heads")
    rest = {"kv_heads": kv_heads(c), "head_dim": head_dim(c)}
    own: list[Fields] = [{"heads": number, **rest} if number != usual else {} for number in heads]
    return [
        {**(local if layer == "sliding_attention" else {}), **more} for layer, more in zip(layers, own, strict=True)
    ]
