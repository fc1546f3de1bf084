"""Apertus: Llama with QK norm, and a non-gated FFN with a learned activation (xIELU)."""

from archcalc.importers.hf._helpers.blocks import decoder
from archcalc.importers.hf._helpers.reading import Config, Fields
from archcalc.importers.hf._helpers.words import activation


def translate(c: Config, task: str) -> Fields:
    act = c.text("hidden_act")
    if act != "xielu":
        act = activation(c)
    attention = {"bias": c.flag("attention_bias"), "qk_norm": "head"}
    return decoder(c, task, attention=attention, ffn={"width": c.size("intermediate_size"), "act": act})
