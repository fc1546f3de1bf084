"""Qwen 2 (biases on q, k and v, always) and Qwen 3 (norms on queries and keys instead), also as parts of others."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields, decoder, even_heads, head_dim, layer_types, sliding
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import rope

SECOND = ("qwen2_vl_text", "qwen2_5_vl_text", "qwen2_5_omni_text")
TYPES = ("qwen2", *SECOND, "qwen3", "qwen3_vl_text")
USUAL = "causal"
INERT = "max_window_layers use_sliding_window sliding_window"


def translate(c: Config, task: str) -> Fields:
    attention: Fields = {"bias": ["q", "k", "v"]}
    if c.type in ("qwen3", "qwen3_vl_text"):
        attention = {"bias": c.flag("attention_bias"), "qk_norm": "head"}
    each = even_heads(c) if c.type in SECOND[:2] else head_dim(c)
    return decoder(c, task, head_dim=each, attention=attention, position=rope(c, each), **_layers(c))


def _layers(c: Config) -> Fields:
    if c.type == "qwen3_vl_text":
        return {}
    window = c.given("sliding_window") if c.flag("use_sliding_window") else None
    first = c.get("max_window_layers")
    blocks = range(c.size("num_hidden_layers"))
    usual = ["sliding_attention" if window is not None and block >= first else "full_attention" for block in blocks]
    return sliding(c, layer_types(c, usual), window)
