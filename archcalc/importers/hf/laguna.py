"""Laguna: MoE with gated attention outputs, head counts that vary by block, a router with frozen correction biases."""

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.attention_kinds import attentions
from archcalc.importers.hf._helpers.blocks import decoder, head_dim, kv_heads, window
from archcalc.importers.hf._helpers.layer_types import FULL, SLIDING, full, layer_types
from archcalc.importers.hf._helpers.moe import listed, mixture, one_dense_first, used
from archcalc.importers.hf._helpers.reading import Config, Fields
from archcalc.importers.hf._helpers.words import rope

INERT = {inert.NOT_HERE: "sliding_window"}


def translate(c: Config, task: str) -> Fields:
    parts = listed(c, one_dense_first(c))
    return decoder(
        c,
        task,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "head", "gate": _gate(c)},
        **used(c, parts, lambda: _experts(c)),
        position=rope(c, head_dim(c), layer=FULL),
        **attentions(_kinds(c), parts),
    )


def _gate(c: Config) -> str:
    """One gate per head, or one per channel for any other value in the file."""
    return "head" if c.get("gating") in (True, "per-head") else "own"


def _experts(c: Config) -> Fields:
    width, number = c.size("moe_intermediate_size"), c.size("num_experts")
    return mixture(c, number, width, shared=c.count("shared_expert_intermediate_size"), correction="frozen")


def _kinds(c: Config) -> list[Fields]:
    """Sliding-window blocks rotate whole heads with their own RoPE base; head counts may differ by block."""
    local: Fields = {**window(c), "position": rope(c, head_dim(c), layer=SLIDING)}
    layers = layer_types(c, full(c))
    kinds = [local if layer == SLIDING else {} for layer in layers]
    return [{**kind, **more} for kind, more in zip(kinds, _heads(c), strict=True)]


def _heads(c: Config) -> list[Fields]:
    """The attention options of a block with a different number of heads."""
    usual, blocks = c.size("num_attention_heads"), c.size("num_hidden_layers")
    rest = {"kv_heads": kv_heads(c), "head_dim": head_dim(c)}
    numbers = c.get("num_attention_heads_per_layer") or [usual] * blocks
    return [{"heads": number, **rest} if number != usual else {} for number in numbers]
