"""Qwen 2 (biases on q, k and v, always) and Qwen 3 (norms on queries and keys instead)."""

from __future__ import annotations

from archcalc.importers.hf.blocks import Fields, decoder, layer_types, sliding
from archcalc.importers.hf.reading import Config

TYPES = ("qwen2", "qwen3")
USUAL = "causal"
INERT = "max_window_layers use_sliding_window sliding_window"


def translate(c: Config, task: str) -> Fields:
    if c.type == "qwen2":
        attention: Fields = {"bias": ["q", "k", "v"]}
    else:
        attention = {"bias": c.flag("attention_bias"), "qk_norm": "head"}
    window = c.given("sliding_window") if c.flag("use_sliding_window") else None
    first = c.get("max_window_layers")
    blocks = range(c.size("num_hidden_layers"))
    usual = ["sliding_attention" if window is not None and block >= first else "full_attention" for block in blocks]
    return decoder(c, task, attention=attention, **sliding(c, layer_types(c, usual), window))
