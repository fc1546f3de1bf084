"""Granite with attention sinks and sliding windows, dense or MoE; each block may have its own RoPE base."""

from functools import partial

from archcalc.importers.hf._helpers import Config, Fields, decoder, ffn, head_dim, rope, when, where_used
from archcalc.importers.hf._helpers.layer_types import SLIDING, attentions, first_of_every, layer_types
from archcalc.importers.hf._helpers.moe import experts


def translate(c: Config, *, part: str) -> Fields:
    """`part` stands behind attention in every block: an FFN or experts."""
    sizes = {"number": "num_local_experts", "width": "intermediate_size", "shared_width": "shared_intermediate_size"}
    made = where_used([part], ffn=lambda: ffn(c, bias=c.flag("mlp_bias")), moe=lambda: experts(c, **sizes))
    position = rope(c, head_dim(c))
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias"), "sinks": True},
        **made,
        position=position,
        **attentions(_kinds(c, position), [part] * c.size("num_hidden_layers")),
    )


def _kinds(c: Config, position: Fields) -> list[Fields]:
    """What a block's attention has: a window, and a RoPE base of its own, where 0 means no positions."""
    layers, window = layer_types(c, first_of_every(c, 4)), c.given("sliding_window")
    slides = [when(layer == SLIDING and window, window=window) for layer in layers]
    said, blocks = c.given("layer_rope_theta"), c.size("num_hidden_layers")
    if said is None:
        return slides
    if not isinstance(said, list) or len(said) != blocks:
        raise c.refused("layer_rope_theta", f"it must name a base for each of {blocks} blocks")
    usual, free = position.get("theta"), {"position": "none"}
    turned = [when(theta != usual, position={**position, "theta": float(theta)}) if theta else free for theta in said]
    return [{**slide, **turn} for slide, turn in zip(slides, turned, strict=True)]


TYPES = {
    "granite_swa": partial(translate, part="ffn"),
    "granitemoe_swa": partial(translate, part="moe"),
}
