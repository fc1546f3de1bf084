"""Granite with attention sinks and sliding windows, dense or MoE; each block may have its own RoPE base."""

from __future__ import annotations

from archcalc.importers.hf._helpers import Config, Fields, Value, attentions, decoder, head_dim, rope, when
from archcalc.importers.hf._helpers.layer_types import SLIDING, first_of_every, layer_types


def granite_windows(c: Config, part: str, **more: Value) -> Fields:
    """`part` stands behind attention in every block: an FFN or experts."""
    position = rope(c, head_dim(c))
    kinds = attentions(_kinds(c, position), [part] * c.size("num_hidden_layers"))
    attention = {"bias": c.flag("attention_bias"), "sinks": True}
    return decoder(c, attention=attention, position=position, **kinds, **more)


def _kinds(c: Config, position: Fields) -> list[Fields]:
    layers, window = layer_types(c, first_of_every(c, 4)), c.given("sliding_window")
    slides = [when(layer == SLIDING and window, window=window) for layer in layers]
    return [{**slide, **turned} for slide, turned in zip(slides, _turned(c, position), strict=True)]


def _turned(c: Config, position: Fields) -> list[Fields]:
    """A base for each block; 0 means no positions."""
    said, blocks = c.given("layer_rope_theta"), c.size("num_hidden_layers")
    if said is None:
        return [{}] * blocks
    if not isinstance(said, list) or len(said) != blocks:
        raise c.refused("layer_rope_theta", f"it must name a base for each of {blocks} blocks")
    return [_at(position, theta) for theta in said]


def _at(position: Fields, theta: float) -> Fields:
    if not theta:
        return {"position": "none"}
    return when(theta != position.get("theta"), position={**position, "theta": float(theta)})
