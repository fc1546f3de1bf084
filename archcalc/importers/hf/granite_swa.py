"""Granite with sinks and windows, dense or with experts; RoPE has a base for each block, and 0 means none."""

from __future__ import annotations

from archcalc.importers.hf._helpers.attention_kinds import attentions
from archcalc.importers.hf._helpers.blocks import Fields, decoder, ffn, head_dim, layer_types
from archcalc.importers.hf._helpers.moe import mixture
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import rope

TYPES = ("granite_swa", "granitemoe_swa")
USUAL = "causal"
INERT = "embedding_multiplier logits_scaling residual_multiplier attention_multiplier"


def translate(c: Config, task: str) -> Fields:
    sparse = c.type == "granitemoe_swa"
    blocks = c.size("num_hidden_layers")
    position = rope(c, head_dim(c))
    return decoder(
        c,
        task,
        attention={"bias": c.flag("attention_bias"), "sinks": True},
        ffn=None if sparse else ffn(c, bias=c.flag("mlp_bias")),
        moe=_experts(c) if sparse else None,
        position=position,
        **attentions(_kinds(c, position), ["moe" if sparse else "ffn"] * blocks),
    )


def _experts(c: Config) -> Fields:
    number, width = c.size("num_local_experts"), c.size("intermediate_size")
    return mixture(c, number, width, shared=c.count("shared_intermediate_size"))


def _kinds(c: Config, position: Fields) -> list[Fields]:
    blocks = range(c.size("num_hidden_layers"))
    usual = ["sliding_attention" if block % 4 else "full_attention" for block in blocks]
    layers, window = layer_types(c, usual), c.given("sliding_window")
    if not set(layers) <= {"full_attention", "sliding_attention"}:
        raise c.refused("layer_types")
    slides = [{"window": window} if layer == "sliding_attention" and window else {} for layer in layers]
    return [{**slide, **turned} for slide, turned in zip(slides, _turned(c, position), strict=True)]


def _turned(c: Config, position: Fields) -> list[Fields]:
    said, blocks = c.given("layer_rope_theta"), c.size("num_hidden_layers")
    if said is None:
        return [{}] * blocks
    if not isinstance(said, list) or len(said) != blocks:
        raise c.refused("layer_rope_theta", f"it must name a base for each of {blocks} blocks")
    return [_at(position, theta) for theta in said]


def _at(position: Fields, theta: float) -> Fields:
    if not theta:
        return {"position": "none"}
    return {} if theta == position.get("theta") else {"position": {**position, "theta": float(theta)}}
