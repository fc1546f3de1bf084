"""Ministral and CWM: Llama with windows in some blocks, which the file lists."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields, decoder, ffn, layer_types, sliding
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("ministral", "cwm")
USUAL = "causal"
INERT = ""


def translate(c: Config, task: str) -> Fields:
    window, blocks = c.given("sliding_window"), range(c.size("num_hidden_layers"))
    if c.type == "cwm":
        usual = ["sliding_attention" if block % 4 else "full_attention" for block in blocks]
    else:
        usual = ["full_attention" if window is None else "sliding_attention" for _ in blocks]
    return decoder(c, task, ffn=ffn(c, bias=c.flag("mlp_bias")), **sliding(c, layer_types(c, usual), window))
