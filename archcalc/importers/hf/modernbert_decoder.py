"""ModernBERT that looks back only: windows are half as wide as its encoder's."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.attention_kinds import attentions
from archcalc.importers.hf._helpers.blocks import Fields, decoder, even_heads, ffn, layer_types
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import rope

TYPES = ("modernbert-decoder",)
USUAL = "causal"
INERT = "classifier_activation initializer_cutoff_factor head_dim num_key_value_heads local_attention"


def translate(c: Config, task: str) -> Fields:
    number, each = c.size("num_attention_heads"), even_heads(c)
    return decoder(
        c,
        task,
        kv_heads=number,
        head_dim=each,
        attention={"bias": c.flag("attention_bias")},
        ffn=ffn(c, act="hidden_activation", bias=c.flag("mlp_bias")),
        norm={"kind": "layer", "bias": c.flag("norm_bias")},
        position=rope(c, each, layer="full_attention", theta=160_000.0),
        embedding={"norm": True},
        **attentions(_kinds(c, each), ["ffn"] * c.size("num_hidden_layers")),
        head=_head(c, task),
    )


def _kinds(c: Config, each: int) -> list[Fields]:
    """The first block goes without its norm: the embedding has one already."""
    every, blocks = c.given("global_attn_every_n_layers") or 3, c.size("num_hidden_layers")
    usual = ["sliding_attention" if block % every else "full_attention" for block in range(blocks)]
    layers = layer_types(c, usual)
    if not set(layers) <= {"sliding_attention", "full_attention"}:
        raise c.refused("layer_types")
    position = rope(c, each, layer="sliding_attention", theta=10_000.0)
    local = {"window": max(c.size("local_attention") // 2, 1), "position": position}
    kinds: list[Fields] = [dict(local) if layer == "sliding_attention" else {} for layer in layers]
    kinds[0] |= {"norm": "none"}
    return kinds


def _head(c: Config, task: str) -> Any:
    """A dense layer and a norm stand in front of every head."""
    dense = {"transform": True, "transform_bias": c.flag("classifier_bias")}
    if task == "causal":
        return {"kind": "tied" if c.flag("tie_word_embeddings") else "lm", "bias": c.flag("decoder_bias"), **dense}
    c.skip("tie_word_embeddings", "decoder_bias")
    if task == "sequence":
        biased = c.flag("classifier_bias")
        return {"kind": "classifier", "classes": heads.labels(c), "bias": biased, "pool": "last", **dense}
    return heads.of_decoder(c, task)
